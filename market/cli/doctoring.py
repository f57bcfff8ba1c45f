"""What is wrong around the roots: this user's files, the indexes and their clocks, the hosts and what they show."""

from __future__ import annotations

import importlib
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from market.cli.standing import find_standings
from market.client.running_hosts import find_stale_records
from market.disk.failures import disk_failures
from market.errors import MarketError
from market.installer.doctor import ERROR, NOTE, WARNING, Finding
from market.installer.tree_state import TreeState
from market.model import State
from market.registry.findings import LACKING
from market.registry.live import SOURCE_PACK, SOURCE_PLUGIN, SOURCE_WORKSPACE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from market.cli.market import Market
    from market.cli.standing_row import HostLook, PackStanding
    from market.client.host_wire import SkillView
    from market.installer.root import Root

MAX_CLOCK_SKEW_SECONDS = 120.0
"""Beyond that tokens end too early or too late, and the age of a release is wrong."""

# `unmanaged` and `edited` skills are live too.
_LIVE = frozenset({State.LIVE, State.UNMANAGED, State.EDITED})
_FIXES = {
    State.HELD: "`market verify --accept {pack}` takes its edits for good; or install it again with --force",
    State.INVALID: "correct the pack, or go back with `market rollback {pack}`; `market host reload` tries it again",
    State.SHADOWED: "call it as {pack}:KEY; or uninstall or disable what has its name",
    State.INELIGIBLE: "give the host's machine what it needs",
    State.DISABLED: "nothing, if that is wanted; else `market enable {pack}`",
}
_LOST_FIXES = {
    SOURCE_PACK: "`market check {place}` shows it; take another release, or tell the pack's author",
    SOURCE_PLUGIN: "correct it, or uninstall it, with the installer that put it there",
}


def examine_home(market: Market) -> Iterator[Finding]:
    """Yield what is wrong with this user's own files: secrets that others can read, records of hosts that are gone."""
    home = market.home
    for path in (home.credentials, home.host_admin_token, home.host_tokens):
        try:
            mode = stat.S_IMODE(path.stat().st_mode)
        except OSError:
            continue
        if mode & 0o077:
            text = f"others on this machine can read it (mode {mode:04o})"
            yield Finding("secret-readable", ERROR, str(path), text, f"chmod 600 {path}", is_safe=True)
    for path in find_stale_records(home):
        text = "the record of a host that no longer runs"
        yield Finding("host-stale", WARNING, str(path), text, f"delete {path}", is_safe=True)


def repair_home(market: Market) -> None:
    """Put right what `examine_home` finds."""
    for finding in examine_home(market):
        path = market.home.path.joinpath(finding.place)
        with disk_failures("repair", path):
            if finding.rule == "secret-readable":
                path.chmod(0o600)
            else:
                path.unlink(missing_ok=True)


def examine_indexes(market: Market) -> Iterator[Finding]:
    """Ask every configured index, and compare its clock with this machine's."""
    network = importlib.import_module("market.cli.network")
    named = market.environ.get("MARKET_INDEX_URL")
    for choice in (market.settings.index(),) if named else market.settings.indexes:
        try:
            network.open_index(market, market.settings.index_at(choice.url)).packs(1)
            theirs = network.read_clock(market, choice.url)
        except MarketError as error:
            text = f"{error.message}{f': {error.why}' if error.why else ''}; what is installed works on"
            yield Finding("index-silent", WARNING, choice.url, text, error.hint)
            continue
        skew = (market.now() - theirs).total_seconds() if theirs else 0.0
        if abs(skew) > MAX_CLOCK_SKEW_SECONDS:
            text = f"this machine's clock is {abs(skew):.0f} s {'ahead of' if skew > 0 else 'behind'} the index's"
            yield Finding("clock-skew", WARNING, choice.url, text, "set the clock, for example with a time service")


def examine_hosts(market: Market, roots: Sequence[Root]) -> Iterator[Finding]:
    """Ask every running host that serves one of the roots whether it shows what stands there."""
    standings, looks = find_standings(market, roots, with_environment=True)
    for look in looks:
        if look.trouble:
            text = f"the host runs, and can't be asked: {look.trouble}"
            yield Finding("host-silent", WARNING, look.url, text, "see its log; or stop it and start it again")
    for row in standings:
        if row.host_version is not None:
            shown = row.host_version or "nothing of it"
            text = f"{row.name} {row.version} stands in {row.root.path}, and the host shows {shown}"
            yield Finding("host-behind", ERROR, row.host, text, "its log says why; it looks again every 30 s")
    asked = [look for look in looks if not look.trouble]
    yield from _find_lost(standings, asked)
    yield from _find_hidden(standings, asked)
    for row in standings:
        for text, fix in () if row.host else row.lacks:
            what = f"{row.pack} {row.version}".rstrip()
            yield Finding(
                "pack-ineligible", WARNING, str(row.root.tree(row.name)), f"{what} can't be used: {text}", fix
            )


def _find_lost(standings: Sequence[PackStanding], looks: Sequence[HostLook]) -> Iterator[Finding]:
    """Yield what of a pack can't load, skill by skill. A folder that somebody works in is nobody's concern yet."""
    for row in standings:
        if row.source == SOURCE_WORKSPACE or row.host_version is not None or row.tree is TreeState.MISSING:
            continue
        look, place = _look_of(row, looks), str(row.root.path / row.name)
        rule, severity = ("host-does-not-show", ERROR) if look else ("skill-not-loaded", WARNING)
        # One whose code can't be used is a skill all the same, and told as that.
        unusable = {key for key, state in row.skills if state == State.INVALID}
        lost = [(name, why) for name, why in row.not_loaded if name not in unusable]
        for name, why in lost or ([] if row.skills else [(place, "no manifest is in it")]):
            what = f"{row.pack} {row.version}" if name == place else f"{name} of {row.pack} {row.version}"
            text = f"{what} doesn't load: {why}"
            fix = _LOST_FIXES[row.source].format(place=place)
            yield Finding(
                rule, severity if row.state == State.INVALID else WARNING, look.url if look else place, text, fix
            )


def _find_hidden(standings: Sequence[PackStanding], looks: Sequence[HostLook]) -> Iterator[Finding]:
    """Yield what stands there, in the version that the host knows, and isn't live in it. A skill is told once."""
    told: set[tuple[str, str]] = set()
    for row in standings:
        look = _look_of(row, looks)
        if look is None or row.receipt is None or row.host_version is not None or row.tree is TreeState.MISSING:
            continue
        for skill in look.skills:
            if skill.pack == row.pack and skill.state not in _LIVE and (look.url, skill.key) not in told:
                told.add((look.url, skill.key))
                yield _hidden(row, look, skill)


def _look_of(row: PackStanding, looks: Sequence[HostLook]) -> HostLook | None:
    return next((one for one in looks if Path(one.root).resolve() == row.root.path.resolve()), None)


def _hidden(row: PackStanding, look: HostLook, skill: SkillView) -> Finding:
    problems = [str(one["text"]) for one in skill.problems if one.get("text")]
    reasons = [f"{skill.shadowed_by} has its name"] if skill.shadowed_by else problems
    known = f": {'; '.join(reasons)}" if reasons else ""
    text = f"{skill.key} of {row.pack} {row.version} is not live (state {skill.state}){known}"
    fix = _FIXES.get(State(skill.state), "its log says why") if skill.state in tuple(State) else "its log says why"
    advice = [str(one["fix"]) for one in skill.problems if one.get("rule") == LACKING and one.get("fix")]
    severity = NOTE if skill.state == State.DISABLED else WARNING
    return Finding("host-does-not-show", severity, look.url, text, "; ".join(advice) or fix.format(pack=row.pack))
