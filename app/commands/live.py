"""Asking Claude from the command line: what will be sent is said first, what it took afterwards."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Sequence
from dataclasses import asdict, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from app.errors import AnchorlineError, UsageError

if TYPE_CHECKING:
    from app.llm.access import Access
    from app.llm.claude import ClaudeSummariser, Outcome, Progress
    from app.llm.quote import Quote

CLAUDE = "claude"
SECONDS = 60.0

ADVICE = {
    "NoKey": "`keyring set anchorline anthropic` keeps one for good",
    "KeyRefused": "check the key in ANTHROPIC_API_KEY or the keyring, and what it may use",
    "Overloaded": "try again in a few minutes, or with another --model",
    "ServiceFailed": "the fault is on the other side; try again later",
    "Unreachable": "check the network, the proxy and --base-url",
    "TooLong": "take a --model with a larger context window",
    "Rejected": "check --model and --base-url",
    "Refused": "another --model may answer; --summariser offline always does",
    "EmptyAnswer": "try again, or with another --model",
    "CutShort": "try again, or with another --model",
    "TimedOut": "give it more time with --seconds, or take a faster --model",
    "Cancelled": "",
    "NothingRecorded": "leave the settings as recorded, or take --summariser offline",
}
"""What a person can do about each kind of failure."""


def add_live_arguments(parser: ArgumentParser, writers: Sequence[str]) -> None:
    """Who writes summaries, and how Claude is reached."""
    parser.add_argument(
        "--summariser",
        choices=writers,
        help="who writes the summary; only claude sends anything, and asks first",
    )
    parser.add_argument("--model", default="", metavar="ID", help="Claude's model")
    parser.add_argument("--base-url", default="", metavar="URL", help="where Claude is reached")
    parser.add_argument(
        "--seconds",
        type=_seconds,
        default=SECONDS,
        metavar="S",
        help="for a summary by Claude, attempts and pauses included (60)",
    )
    parser.add_argument("--yes", action="store_true", help="send without asking")


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= 3600:
        raise ArgumentTypeError(f"{text!r} is no number of seconds above 0 and up to 3600")
    return seconds


def access_of(args: Namespace) -> Access:
    """How Claude is reached. Raises SummaryFailed with advice where it cannot be."""
    from app.llm.access import access
    from app.llm.failures import SummaryFailed
    from app.llm.keys import key_from

    try:
        key = key_from(os.environ)
        return access(os.environ, key=key, model=args.model, base_url=args.base_url)
    except SummaryFailed as failure:
        raise AnchorlineError(advised(failure)) from failure


def agree(quotes: Sequence[str], args: Namespace) -> None:
    """Say what is about to be sent, and go on only with a yes. Nothing to say needs none.

    Raises UsageError where nobody can be asked, AnchorlineError where the answer is no.
    """
    for quote in quotes:
        _say(quote)
    if args.yes or not quotes:
        return
    if not sys.stdin.isatty():
        raise UsageError("nothing was sent: nobody is here to ask; add --yes to send it")
    print("Send it? [y/N] ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() not in {"y", "yes"}:
        raise AnchorlineError("nothing was sent")


def summariser_of(args: Namespace, access: Access, *, in_all: bool = True) -> ClaudeSummariser:
    """Claude, from now on for so many seconds: for all summaries together, or for each."""
    from app.llm.bounded import Deadline
    from app.llm.claude import ClaudeSummariser, Limits

    limits = Limits(seconds=args.seconds)
    deadline = Deadline(args.seconds) if in_all else None
    return ClaudeSummariser(access, limits, on_progress=_show, deadline=deadline)


def quoted(quote: Quote) -> str:
    """What summaries would send and cost."""
    calls = "1 call" if quote.calls == 1 else f"{quote.calls:,} calls"
    cost = f"at most {dollars(quote.most_cost)}" if quote.most_cost is not None else "cost unknown"
    return (
        f"about {quote.tokens:,} tokens (estimated) of the session go to {quote.host} for "
        f"{quote.model}, in {calls}; {cost}{_by_list(quote.most_cost)}"
    )


def _by_list(cost: Decimal | None) -> str:
    from app.llm.prices import AS_OF

    says = "no price is listed for this model" if cost is None else f"estimated, prices of {AS_OF}"
    return f" ({says})"


def dollars(cost: Decimal) -> str:
    """A small amount of money to two figures that say something."""
    return f"${cost:.2f}" if cost >= 1 else f"${cost:.2g}" if cost >= Decimal("0.0001") else "$0.00"


def took(outcomes: Sequence[Outcome]) -> str:
    """What the summaries took: tokens as reported, cost as estimated."""
    total = summed(outcomes)
    cost = dollars(total.cost) if total.cost is not None else "cost unknown"
    calls = "1 answer" if total.calls == 1 else f"{total.calls:,} answers"
    return (
        f"{total.model}: {calls}, {total.usage.prompt:,} tokens in and {total.usage.output:,} out "
        f"(reported), {cost}{_by_list(total.cost)}, {total.seconds:.1f} s"
    )


def summed(outcomes: Sequence[Outcome]) -> Outcome:
    """All of them as one; the last failure stands for all."""
    total, *others = outcomes
    for one in others:
        known = None if total.cost is None or one.cost is None else total.cost + one.cost
        total = replace(
            total,
            seconds=total.seconds + one.seconds,
            calls=total.calls + one.calls,
            usage=total.usage + one.usage,
            cost=known,
            failure=one.failure or total.failure,
        )
    return total


def live_json(claude: ClaudeSummariser, quote: Quote) -> dict[str, Any]:
    """What was said before and what it took, for scripts."""
    cost = quote.most_cost
    told = {**asdict(quote), "most_cost": None if cost is None else str(cost)}
    if not claude.outcomes:
        return {"quote": told}
    total = summed(claude.outcomes)
    return {
        "quote": told,
        "seconds": round(total.seconds, 3),
        "answers": total.calls,
        "usage": asdict(total.usage),
        "cost": None if total.cost is None else str(total.cost),
        "tokens_are": "reported",
        "cost_is": "estimated",
    }


def failure_json(failure: Exception) -> dict[str, str]:
    """A failure for scripts: its kind, its sentence, and what can be done."""
    kind = type(failure).__name__
    return {"kind": kind, "says": str(failure), "advice": ADVICE.get(kind, "")}


def advised(failure: Exception) -> str:
    """A failure in a sentence, with what can be done about it."""
    advice = ADVICE.get(type(failure).__name__, "")
    return f"{failure}; {advice}" if advice else str(failure)


def tell(claude: ClaudeSummariser | None, failure: Exception | None) -> None:
    """Say on stderr what Claude took, and why there is no summary."""
    if claude and not claude.outcomes:
        _say("no summary was needed, so Claude was not asked")
    if claude and claude.outcomes:
        if sys.stderr.isatty():
            print(file=sys.stderr)  # ends the line of `_show`
        _say(took(claude.outcomes))
    if failure is not None:
        _say(f"no summary: {advised(failure)}")


def _say(text: str) -> None:
    from app.text import printable

    print(f"anchorline: {printable(text)}", file=sys.stderr)


def _show(progress: Progress) -> None:
    """How far the answer has come, on a line of a terminal that is written over."""
    if sys.stderr.isatty():
        part = f"part {progress.portion} of {progress.portions}, " if progress.portions > 1 else ""
        print(f"\r{part}{progress.characters:,} characters …", end="", file=sys.stderr, flush=True)
