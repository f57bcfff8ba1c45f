"""Running a skill in a host: found, called and reported as if it ran here."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from market.cli.network import open_host
from market.cli.outcomes import call_hint, report_outcome
from market.errors import InvalidInput, NotFound
from market.model import Kind, Outcome, OutcomeKind
from market.registry.live import RUNNABLE_STATES

if TYPE_CHECKING:
    from market.cli.market import Market
    from market.cli.output import Output
    from market.client.host_client import HostClient
    from market.client.host_wire import Execution, SkillView


def run_hosted(market: Market, output: Output, target: str, params: object, *, host: str, token: str) -> int:
    """Call a skill, or a pack's only one, in the host at a URL, and report what came of it."""
    client = open_host(market, host, token)
    skill = _choose(client, target)
    # `pack:skill` stays as it was written: it says whose skill is meant, should another one get the plain key.
    key = target if target == f"{skill.pack}:{skill.name}" else skill.key
    with output.progress(f"running {key} at {client.url}"):
        try:
            execution = client.execute(key, params)
        except InvalidInput as error:
            if not error.hint and skill.state in RUNNABLE_STATES:
                error.hint = call_hint(key, None if skill.kind == Kind.GUIDE else skill.schema)
            raise
    return report_outcome(output, key, _outcome(execution), client.url)


def _choose(client: HostClient, target: str) -> SkillView:
    """Return the skill that is meant; a key wins over a pack of that name."""
    skills = client.skills()
    named = [skill for skill in skills if target in (skill.key, f"{skill.pack}:{skill.name}")]
    own = named or [skill for skill in skills if skill.pack == target.lower().replace("_", "-")]
    if len(own) > 1:
        keys = ", ".join(skill.key for skill in own)
        raise InvalidInput(f"the pack {target} has {len(own)} skills", hint=f"name one: {keys}")
    if not own:
        near = difflib.get_close_matches(
            target, sorted({skill.key for skill in skills} | {skill.pack for skill in skills}), n=3
        )
        hint = f"did you mean {' or '.join(near)}?" if near else "install it first"
        raise NotFound(f"the host at {client.url} has no skill or pack {target!r}", hint=hint, details={"near": near})
    return own[0]


def _outcome(execution: Execution) -> Outcome:
    """Return the host's answer as an outcome; a kind that this market doesn't know counts as failed."""
    known = execution.kind in tuple(OutcomeKind)
    return Outcome(
        kind=OutcomeKind(execution.kind) if known else OutcomeKind.FAILED,
        result=execution.result,
        error=execution.error if known else f"{execution.kind}: {execution.error}",
        duration_ms=execution.duration_ms,
        stderr=execution.stderr,
        truncated=execution.truncated,
        exit_code=execution.exit_code,
    )
