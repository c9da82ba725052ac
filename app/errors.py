"""What can go wrong for the person using the app.

    AnchorlineError
      UsageError            the request makes no sense: unknown session, bad setting
        NotFound            no such session, compaction or file in this folder
      SourceError           the inspected data
        SourceBusy          held by a writer; try again
        SourceUnreadable    damaged, or not harness9 data

Each message is one sentence fit for the status bar: what, where, and what to do.
"""

from __future__ import annotations


class AnchorlineError(Exception):
    """Anything the person should be told about in one sentence."""


class UsageError(AnchorlineError):
    """The request makes no sense."""


class NotFound(UsageError):
    """Nothing of that name is here."""


class SourceError(AnchorlineError):
    """The inspected data could not be read."""


class SourceBusy(SourceError):
    """Held by a writer for longer than we wait."""


class SourceUnreadable(SourceError):
    """Damaged, or not harness9 data."""
