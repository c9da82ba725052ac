"""One streamed call of the Messages API: its events, what they add up to, and its failures."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from app.llm.access import Access
from app.llm.failures import (
    CutShort,
    EmptyAnswer,
    KeyRefused,
    Overloaded,
    Refused,
    Rejected,
    ServiceFailed,
    SummaryFailed,
    TooLong,
    Unreachable,
)
from app.llm.prices import Usage
from compaction.adapters import Json
from compaction.utf8 import encoded

if TYPE_CHECKING:
    import anthropic


def events(
    access: Access, system: str, prompt: str, most_output: int, timeout: float
) -> Generator[Any, None, None]:
    """The events of one answer to `prompt`. Raises SummaryFailed.

    `timeout` is for each read, in seconds; how long all may take is the caller's business.
    """
    with translated(access), access.client(max(timeout, 0.001)) as client:
        stream = client.messages.create(
            model=access.model,
            max_tokens=most_output,
            system=_sendable(system),
            messages=[{"role": "user", "content": _sendable(prompt)}],
            stream=True,
        )
        with stream:
            yield from stream


def counted(access: Access, request: Json, timeout: float) -> Generator[int, None, None]:
    """The tokens of a request, as one item. Raises SummaryFailed; `timeout` as for `events`."""
    with translated(access), access.client(max(timeout, 0.001)) as client:
        yield client.messages.count_tokens(model=access.model, **request).input_tokens


def _sendable(text: str) -> str:
    # Bytes that were no UTF-8 cannot be sent as JSON.
    return encoded(text).decode("utf-8", "replace")


@contextmanager
def translated(access: Access) -> Iterator[None]:
    """The client library's errors as failures of ours, in which the key never appears."""
    import anthropic  # noqa: PLC0415 - see Access.client
    import httpx2  # noqa: PLC0415 - what the library is built on

    try:
        yield
    except anthropic.APIStatusError as error:
        # Not chained: its text and its request may hold what was sent.
        raise _status_failure(error, access) from None
    except (anthropic.APIConnectionError, httpx2.TransportError) as error:
        kind = type(error.__cause__ or error).__name__
        raise Unreachable(f"no answer from Claude at {access.base_url} ({kind})") from None
    except UnicodeError:
        raise Rejected("the text holds bytes that cannot be sent to Claude") from None
    except anthropic.AnthropicError as error:
        raise ServiceFailed(f"Claude: {access.without_key(str(error))}") from None


_BY_STATUS: dict[int, type[SummaryFailed]] = {
    401: KeyRefused,
    403: KeyRefused,
    408: Unreachable,
    413: TooLong,
    429: Overloaded,
    503: Overloaded,
    529: Overloaded,
}
_BY_TYPE: dict[str, type[SummaryFailed]] = {
    "overloaded_error": Overloaded,
    "rate_limit_error": Overloaded,
    "authentication_error": KeyRefused,
    "permission_error": KeyRefused,
    "invalid_request_error": Rejected,
}


def _status_failure(error: anthropic.APIStatusError, access: Access) -> SummaryFailed:
    says = access.without_key(error.api_message or f"HTTP {error.status_code}")
    if error.status_code < 400:  # an error in the middle of a stream
        kind = _BY_TYPE.get(str(error.type), ServiceFailed)
    else:
        other = ServiceFailed if error.status_code >= 500 else Rejected
        kind = _BY_STATUS.get(error.status_code, other)
    if kind is Rejected and "too long" in says:
        kind = TooLong
    failure = kind(f"Claude: {says}")
    failure.retry_after = _seconds(error.response.headers.get("retry-after"))
    return failure


def _seconds(header: str | None) -> float | None:
    try:
        seconds = float(header or "")
    except ValueError:
        return None  # absent, or a date
    return seconds if 0 <= seconds < float("inf") else None


class Reply:
    """One answer as it arrives."""

    def __init__(self) -> None:
        self.text = ""
        self.usage = Usage()
        self.has_begun = False
        """Whether the service took the request, and will bill it."""
        self._calls_tool = False
        self._is_complete = False
        self._stopped: Any = None

    def take(self, event: Any) -> bool:
        """Take one event of the stream in; whether there is more text now."""
        match event.type:
            case "message_start":
                self.has_begun = True
                self.usage = _usage(event.message.usage)
            case "content_block_start" if event.content_block.type == "tool_use":
                self._calls_tool = True
            case "content_block_delta" if event.delta.type == "text_delta":
                self.text += event.delta.text
                return True
            case "message_delta":
                self._stopped = event.delta
                self.usage = replace(self.usage, output=event.usage.output_tokens)
            case "message_stop":
                self._is_complete = True
        return False

    def checked(self) -> str:
        """The text, if this is a whole answer. Raises SummaryFailed."""
        if not self._is_complete or self._stopped is None:
            raise Unreachable("the connection to Claude broke off in the middle of the answer")
        reason = self._stopped.stop_reason
        if reason == "refusal":
            details = self._stopped.stop_details
            why = (details and (details.explanation or details.category)) or "no reason was given"
            raise Refused(f"Claude declined to summarise: {why}")
        if reason == "model_context_window_exceeded":
            raise TooLong("the text fills the model's whole context window")
        if reason == "max_tokens":
            raise CutShort(f"the answer was not complete after {self.usage.output:,} tokens")
        if not self.text.strip():
            what = "only a tool call" if self._calls_tool else "without text"
            raise EmptyAnswer(f"Claude answered {what}")
        return self.text


def _usage(reported: Any) -> Usage:
    return Usage(
        reported.input_tokens,
        reported.output_tokens,
        reported.cache_read_input_tokens or 0,
        reported.cache_creation_input_tokens or 0,
    )
