"""Running a skill in this process: the registry over some roots, one invoker, this machine's audit log."""

from __future__ import annotations

import difflib
import logging
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from market.cancellation import Cancellation
from market.cli.operator import local_operator
from market.cli.outcomes import refusal_hint, report_outcome
from market.cli.plugged import open_plugins
from market.cli.roots import chosen_roots
from market.cli.targets import existing_path, folder_hint, is_path
from market.disk.home import make_private_directory
from market.errors import InvalidInput, NotFound
from market.model import Call, OutcomeKind
from market.registry.environment import EnvironmentPacks
from market.registry.links import LinkedFolders, read_link_targets
from market.registry.live import SOURCE_PACK, SOURCE_PLUGIN
from market.registry.loader import Loader
from market.registry.registry import Registry
from market.run.audit import AuditLog
from market.run.invoke import Invoker
from market.run.own import own_running
from market.run.pool import SupervisorPool
from market.run.workers import Workers, find_siblings

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from market.cli.market import Market
    from market.cli.output import Output
    from market.model import Outcome
    from market.registry.live import LiveSkill
    from market.registry.snapshot import Snapshot
    from market.registry.unit import Dropped

ROAD = "cli"
WHERE = "here"
LOCAL_SUPERVISORS = 1


@dataclass(frozen=True, slots=True)
class Bench:
    """A loaded registry and an invoker, for a few calls. `roots` are what was loaded, for messages."""

    roots: tuple[Path, ...]
    registry: Registry
    packs: EnvironmentPacks
    invoker: Invoker

    @property
    def snapshot(self) -> Snapshot:
        """What is registered."""
        return self.registry.snapshot

    def call(self, key: str, params: object) -> Outcome:
        """Make one call as this machine's operator. An interrupt cancels it, and is raised when that is done and audited."""
        cancellation = Cancellation()
        # On a thread of its own, so that no signal breaks into what it does.
        with ThreadPoolExecutor(1) as thread:
            made = thread.submit(self.invoker.invoke, Call(key, params, local_operator(), ROAD), cancellation)
            try:
                return made.result()
            except KeyboardInterrupt:
                cancellation.cancel("it was interrupted")
                made.result()
                raise


def run_here(market: Market, output: Output, target: str, params: object, *, roots: tuple[str, ...], skill: str) -> int:
    """Call a skill of the installed packs, or of a folder where `target` is a path, and report what came of it."""
    folder = existing_path(target).absolute() if is_path(target) else None
    if folder is not None and not folder.is_dir():
        raise InvalidInput(f"{target} is not a folder", hint=f"install it first: `market install {target}`")
    loaded = (folder,) if folder else tuple(root.path for root in chosen_roots(market, roots))
    with open_bench(market, loaded) as bench:
        if not folder and not roots:
            _look_beside(bench, target)
        key = _choose_in_folder(bench, skill) if folder else _choose(bench, target, skill)
        found = bench.snapshot.find(key)
        if found is not None:
            output.remark(f"running {key} of {found.pack} {found.version} from {found.unit} here".replace("  ", " "))
        with output.progress(f"running {key}"):
            outcome = bench.call(key, params)
        if outcome.kind is OutcomeKind.UNKNOWN:
            raise _unknown(bench, target)
        return report_outcome(output, key, outcome, WHERE, hint=_hint(found, outcome.kind))


def _hint(found: LiveSkill | None, kind: OutcomeKind) -> str:
    if found is None:
        return ""
    if not found.is_runnable:
        return (
            f"`market why {found.pack}` says more"
            if found.source == SOURCE_PACK
            else f"`market check {found.unit}` shows everything"
        )
    return refusal_hint(kind, found.key, found.skill.command.schema if found.skill.command else None)


@contextmanager
def open_bench(market: Market, roots: Sequence[Path]) -> Iterator[Bench]:
    """Load the roots and make ready for calls; every call is audited in MARKET_HOME."""
    make_private_directory(market.home.path)
    names, targets = tuple(map(str, roots)), read_link_targets(market.environ)
    packs = EnvironmentPacks(Loader(link_targets=targets).load)
    registry = Registry(names, packs.load, LinkedFolders(names, targets).find)
    registry.load()
    audit = AuditLog(market.home.audit)
    try:
        with (
            SupervisorPool(LOCAL_SUPERVISORS) as pool,
            Workers(find_siblings(registry), processes=LOCAL_SUPERVISORS) as workers,
        ):
            plugins = open_plugins(market, own_running(pool, workers))
            executors = plugins.register_executors(market.environ)
            invoker = Invoker(
                lambda key: registry.snapshot.find(key),
                executors,
                audit,
                decide=plugins.decide_run,
                tell=plugins.skill_ran,
            )
            yield Bench(tuple(roots), registry, packs, invoker)
    finally:
        audit.close()


def _look_beside(bench: Bench, target: str) -> None:
    """Where no root has the target, also know the plugin packs of this Python's environment; a host knows them too.

    What of them doesn't load is told only where it was asked for.
    """
    if bench.snapshot.find(target) is None and target.lower().replace("_", "-") not in bench.snapshot.packs:
        log = logging.getLogger("market.registry")
        was, log.disabled = log.disabled, True
        try:
            bench.registry.refresh(bench.packs.find())
        finally:
            log.disabled = was


def _choose(bench: Bench, target: str, skill: str) -> str:
    """Return the key that is meant: a key, else a pack's only skill. An unknown one is returned as it is, so that it is audited."""
    if not skill and bench.snapshot.find(target) is not None:
        return target
    own = [one for one in bench.snapshot.all_skills() if one.pack == target.lower().replace("_", "-")]
    return _choose_one(own, f"the pack {target}", skill) if own else target


def _choose_in_folder(bench: Bench, skill: str) -> str:
    skills = list(bench.snapshot.all_skills())
    folder = bench.roots[0]
    if not skills:
        dropped = [f"{row.path}: {row.cause}" for row in bench.snapshot.dropped()]
        raise InvalidInput(
            f"{folder} has no skill that loads",
            why="; ".join(dropped),
            hint=f"`market check {folder}` shows everything",
        )
    return _choose_one(skills, str(folder), skill)


def _choose_one(skills: list[LiveSkill], what: str, name: str) -> str:
    named = [one for one in skills if name in (one.key, one.skill.name)] if name else skills
    if len(named) == 1:
        return named[0].key
    keys = ", ".join(one.key for one in skills)
    if named:
        raise InvalidInput(f"{what} has {len(named)} skills", hint=f"name one: {keys} (a folder's with --skill NAME)")
    raise NotFound(f"{what} has no skill {name!r}", hint=f"it has {keys}")


def _unknown(bench: Bench, target: str) -> NotFound:
    """Return the error for a target that names nothing: what is spelled alike, and what didn't load."""
    skills = tuple(bench.snapshot.all_skills())
    if lost := [row for row in bench.snapshot.dropped() if target in (row.name, f"{row.pack}:{row.name}", row.pack)]:
        return _lost(lost, target)
    near = difflib.get_close_matches(
        target, sorted({one.key for one in skills} | {one.pack for one in skills}), n=3, cutoff=0.5
    )
    looked = f"looked in {', '.join(map(str, bench.roots)) or 'no root: none exists yet'}"
    dropped = [
        f"{row.path} did not load: {row.cause}" for row in bench.snapshot.dropped() if row.source != SOURCE_PLUGIN
    ]
    hint = (
        f"did you mean {' or '.join(near)}?"
        if near
        else folder_hint(target) or f"install it first: `market install {target}`"
    )
    return NotFound(
        f"there is no skill or pack {target!r}", why="; ".join([looked, *dropped]), hint=hint, details={"near": near}
    )


def _lost(rows: Sequence[Dropped], target: str) -> NotFound:
    """Return the error for a target that stands there and didn't load: why, and in which pack."""
    first = rows[0]
    name = f"{first.pack} {first.version}".strip()
    what = name if target == first.pack else f"{target} of {name}"
    where = "in the environment of this Python" if first.source == SOURCE_PLUGIN else first.path
    return NotFound(
        f"{what} is there ({where}), and doesn't load",
        why="; ".join(dict.fromkeys(row.cause for row in rows)),
        hint="`market list` shows how every pack stands",
    )
