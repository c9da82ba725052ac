"""Why a summary could not be had; each is a sentence fit for the status bar.

    SummaryFailed
      NoKey             no key was given
      KeyRefused        the service does not take the key
      Overloaded        too many requests, or the service is busy; try again later
      ServiceFailed     an error on the service's side
      Unreachable       no connection, or it broke off
      TooLong           the text is larger than the model takes
      Rejected          the service does not take the request: unknown model, bad value
      Refused           the model declined to answer
      EmptyAnswer       the model answered without text
      CutShort          the answer reached its limit before it was complete
      TimedOut          the time for all attempts together is up
      Cancelled         the person stopped it
      NothingRecorded   no summary of these messages is on record

None of them ever holds the key.
"""

from __future__ import annotations

from app.errors import AnchorlineError


class SummaryFailed(AnchorlineError):
    """There is no summary."""

    retry_after: float | None = None
    """Seconds that the service asked to wait; None where it said nothing."""


class NoKey(SummaryFailed):
    """No key was given."""


class KeyRefused(SummaryFailed):
    """The service does not take the key."""


class Overloaded(SummaryFailed):
    """Too many requests, or the service is busy."""


class ServiceFailed(SummaryFailed):
    """An error on the service's side."""


class Unreachable(SummaryFailed):
    """No connection, or it broke off."""


class TooLong(SummaryFailed):
    """The text is larger than the model takes."""


class Rejected(SummaryFailed):
    """The service does not take the request."""


class Refused(SummaryFailed):
    """The model declined to answer."""


class EmptyAnswer(SummaryFailed):
    """The model answered without text."""


class CutShort(SummaryFailed):
    """The answer reached its limit before it was complete."""


class TimedOut(SummaryFailed):
    """The time for all attempts together is up."""


class Cancelled(SummaryFailed):
    """The person stopped it."""


class NothingRecorded(SummaryFailed):
    """No summary of these messages is on record."""


TRANSIENT = (Overloaded, ServiceFailed, Unreachable)
"""Worth another attempt."""
