"""A session call by call: when each tier would have fired, and what the model would have seen.

Every message is measured once: a session of n messages costs O(n) token work, and a call at which
nothing new happens costs the same however long the history is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from compaction.ledger import Ledger
from compaction.messages import Message
from compaction.ports import Ports
from compaction.result import CompactionResult, Memory
from compaction.rules import RuleBook
from compaction.settings import Settings
from compaction.strategies import progressive
from compaction.tiers import Tier, tier_for


@dataclass(frozen=True, slots=True)
class Turn:
    """One model call of a replayed session."""

    number: int
    """1-based."""
    position: int
    """How many stored messages precede the call."""
    tokens: int
    """Estimated, of the history before any compaction."""
    tier: Tier
    result: CompactionResult | None
    """What was done about it; None below the warn line."""
    written_back: bool = False
    """The compacted view replaced the history."""


def takes_effect(result: CompactionResult, rules: RuleBook) -> bool:
    """Whether a write-back loop replaces its history by `result`."""
    record = result.record
    if not result.draft.slots or record.tier == Tier.NONE:
        return False
    if rules.guards:
        # Whatever it changed is smaller and valid, also where a summary failed.
        return result.first_change is not None
    if record.error and (rules.strict_write_back or record.tier != Tier.EMERGENCY):
        return False
    fewer_tokens = record.tokens_after < record.tokens_before and not rules.strict_write_back
    return record.msgs_after < record.msgs_before or fewer_tokens or bool(record.offloaded)


def call_positions(messages: Sequence[Message]) -> list[int]:
    """Before which messages the model was called: every assistant message, and the call to come
    where the conversation waits for one."""
    calls = [index for index, message in enumerate(messages) if message.role == "assistant"]
    if messages and messages[-1].role != "assistant":
        calls.append(len(messages))
    return calls


def replay(
    system: Message,
    messages: Sequence[Message],
    settings: Settings,
    ports: Ports = Ports(),  # noqa: B008 - immutable
    memory: Memory = Memory(),  # noqa: B008 - immutable
) -> Iterator[Turn]:
    """Every model call of a session, compacted as `settings` say, oldest first.

    `messages` are the session's own, without the system message. In a write-back rule book a
    compaction that takes effect is what later calls build on; in a view rule book they build on
    the full history, in which offloaded results stay replaced, as in the original.
    """
    ledger = Ledger(settings.offload_bytes, [system])
    seen = 0
    for number, position in enumerate(call_positions(messages), start=1):
        ledger.extend(messages[seen:position])
        seen, tokens = position, ledger.tokens
        tier = tier_for(tokens, settings)
        if tier is Tier.NONE:
            yield Turn(number, position, tokens, tier, None)
            continue
        result = progressive.compact(ledger, settings, ports, memory, tier=tier)
        memory = result.memory
        written_back = settings.rules.writes_back and takes_effect(result, settings.rules)
        if written_back:
            ledger = ledger.replaced_by(result.draft)
        else:
            ledger.rewrite(result.rewritten)
        yield Turn(number, position, tokens, tier, result, written_back)
