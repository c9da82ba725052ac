"""JSON exactly as Go's encoding/json writes it, since people's files and token counts hold it."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from compaction.utf8 import is_raw_byte

_HTML = str.maketrans(
    {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
)


def go_string(text: str) -> str:
    """A JSON string literal: non-ASCII raw, `<`, `>`, `&` and line separators escaped.

    A byte that was not UTF-8 comes out as the six characters `\\ufffd`; a lone surrogate, which Go
    never holds, as U+FFFD itself.
    """
    literal = json.dumps(text, ensure_ascii=False).translate(_HTML)
    return literal if literal.isascii() else _SURROGATE.sub(_go_surrogate, literal)


_SURROGATE = re.compile("[\ud800-\udfff]")


def _go_surrogate(match: re.Match[str]) -> str:
    return "\\ufffd" if is_raw_byte(match[0]) else "\ufffd"


def go_float(value: float) -> str:
    """A number in Go's shortest form; an exponent only below 1e-6 or from 1e21.

    Raises ValueError for NaN and infinities, which JSON cannot hold.
    """
    if not math.isfinite(value):
        raise ValueError(f"{value} cannot be written as JSON")
    if value == 0:
        return "-0" if math.copysign(1, value) < 0 else "0"
    digits, exponent = _shortest(abs(value))
    sign = "-" if value < 0 else ""
    if abs(value) < 1e-6 or abs(value) >= 1e21:
        head, tail = digits[0], digits[1:]
        mantissa = f"{head}.{tail}" if tail else head
        return f"{sign}{mantissa}e{'-' if exponent < 0 else '+'}{abs(exponent)}"
    return sign + _positional(digits, exponent)


def _shortest(value: float) -> tuple[str, int]:
    # repr() is the shortest form that reads back; it only has to be taken apart.
    mantissa, _, power = f"{value!r}".partition("e")
    whole, _, fraction = mantissa.partition(".")
    if fraction == "0":
        fraction = ""
    digits = (whole + fraction).lstrip("0")
    leading = len(whole + fraction) - len(digits)
    exponent = int(power or 0) + len(whole) - 1 - leading
    return digits.rstrip("0") or "0", exponent


def _positional(digits: str, exponent: int) -> str:
    if exponent < 0:
        return "0." + "0" * (-exponent - 1) + digits
    if len(digits) <= exponent + 1:
        return digits + "0" * (exponent + 1 - len(digits))
    return digits[: exponent + 1] + "." + digits[exponent + 1 :]


def go_json(value: Any) -> str:
    """`value` in compact form with sorted keys, as Go marshals what it decoded into a map.

    Every number is a float64, as Go's decoder makes it.

    Raises ValueError for a number that no float64 holds, TypeError for what JSON cannot say.
    """
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return go_string(value)
    if isinstance(value, int | float):
        return go_float(_float64(value))
    if isinstance(value, Mapping):
        # Go sorts keys by their bytes; for valid Unicode that is code point order, as Python's.
        pairs = sorted(value.items(), key=lambda pair: str(pair[0]))
        return "{" + ",".join(f"{go_string(str(k))}:{go_json(item)}" for k, item in pairs) + "}"
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray | memoryview):
        return "[" + ",".join(map(go_json, value)) + "]"
    raise TypeError(f"{type(value).__name__} has no JSON form")


def _float64(value: int | float) -> float:
    try:
        return float(value)
    except OverflowError as error:
        raise ValueError("a number is too large for JSON") from error
