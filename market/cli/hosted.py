"""Running a skill in a host: found, called and reported as if it ran here."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from market.cli.network import open_host
from market.cli.outcomes import report_outcome
from market.errors import InvalidInput, NotFound
from market.model import Outcome, OutcomeKind

if TYPE_CHECKING:
    from market.cli.market import Market
    from market.cli.output import Output
    from market.client.host_client import HostClient
    from market.client.host_wire import Execution


def run_hosted(market: Market, output: Output, target: str, params: object, *, host: str, token: str) -> int:
    """Call a skill, or a pack's only one, in the host at a URL, and report what came of it."""
    client = open_host(market, host, token)
    key = _choose(client, target)
    with output.progress(f"running {key} at {client.url}"):
        execution = client.execute(key, params)
    return report_outcome(output, key, _outcome(execution), client.url)


def _choose(client: HostClient, target: str) -> str:
    """Return the key that is meant; a key wins over a pack of that name."""
    skills = client.skills()
    if any(target in (skill.key, f"{skill.pack}:{skill.name}") for skill in skills):
        return target
    own = [skill.key for skill in skills if skill.pack == target.lower().replace("_", "-")]
    if len(own) > 1:
        raise InvalidInput(f"the pack {target} has {len(own)} skills", hint=f"name one: {', '.join(own)}")
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
