"""What the engine sees of a block of Anthropic's format: its text, a mark, and a size."""

from __future__ import annotations

import json
from collections.abc import Sequence

from compaction.adapters.chat import Json, expect
from compaction.adapters.media import file_tokens, image_size, image_tokens
from compaction.tokens import BYTES_PER_TOKEN
from compaction.utf8 import byte_length

THINKING = ("thinking", "redacted_thinking")


def text_of(blocks: Sequence[Json], where: str, start: int = 0) -> str:
    """The blocks as the engine reads them; a mark stands for each that holds no text.

    `start` is the index of the first block. Raises ValueError naming a block that cannot be read.
    """
    told = (_told(block, f"{where}[{start + index}]") for index, block in enumerate(blocks))
    return "\n".join(filter(None, told))


def _told(block: Json, where: str) -> str:
    """What the engine sees of a block: its text, or a mark for what has none."""
    match block["type"]:
        case "text":
            return str(expect(block.get("text"), str, f"{where}.text", "text"))
        case "thinking" | "redacted_thinking" | "tool_use":
            return ""
        case "image":
            return f"[image {_image(block)}]"
        case "document":
            return _document(block)
        case other:
            name = block.get("name") or block.get("title") or ""
            return f"[{other} {name}]" if isinstance(name, str) and name else f"[{other}]"


def _image(block: Json) -> str:
    source = _source(block)
    size = image_size(source["data"]) if isinstance(source.get("data"), str) else None
    kind = source.get("media_type") or source.get("url") or source.get("type") or "unknown"
    return f"{kind} {size[0]}×{size[1]}" if size else str(kind)


def _document(block: Json) -> str:
    source = _source(block)
    mark = f"[document {block.get('title') or source.get('media_type') or ''}".rstrip() + "]"
    data = source.get("data")
    return f"{mark}\n{data}" if _is_text_document(block) else mark


def _is_text_document(block: Json) -> bool:
    source = _source(block)
    is_text = source.get("type") == "text" and isinstance(source.get("data"), str)
    return block["type"] == "document" and is_text


def _source(block: Json) -> Json:
    source = block.get("source")
    return source if isinstance(source, dict) else {}


def is_in_text(block: Json) -> bool:
    """Whether all that a block says is in the engine's text, so that new text replaces it."""
    return block["type"] == "text" or _is_text_document(block)


def unseen_tokens(blocks: Sequence[Json]) -> int:
    """Estimated tokens of what the engine's text does not hold."""
    return sum(map(_beside, blocks))


def _beside(block: Json) -> int:
    data = _source(block).get("data")
    match block["type"]:
        case "text" | "tool_use" | "tool_result":
            return 0
        case "image":
            return image_tokens(image_size(data) if isinstance(data, str) else None)
        case "document":
            if _is_text_document(block):
                return 0
            return file_tokens(len(data) if isinstance(data, str) else 0)
        case "thinking" | "redacted_thinking":
            held = (block.get("thinking"), block.get("data"))
            size = sum(byte_length(text) for text in held if isinstance(text, str))
            return size // BYTES_PER_TOKEN
        case _:
            return byte_length(json.dumps(block, default=str)) // BYTES_PER_TOKEN
