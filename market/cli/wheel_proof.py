"""Does the code of a wheel have what its files declare? Started in a worker, as a host would start it, and compared."""

from __future__ import annotations

import os
import tempfile
from dataclasses import replace
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING

from market.disk.failures import disk_failures
from market.disk.remove import remove_tree
from market.disk.unpack import unpack
from market.errors import MarketError
from market.installer.receipt import Origin
from market.installer.wheels import acquire_wheel
from market.pack.rules import make_problem
from market.pack.wheel import WHEEL_SUFFIX
from market.registry.loader import Loader
from market.registry.unit import UnitId
from market.run.crew import StartFailed
from market.run.worker_reply import LackKind
from market.run.workers import Workers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from market.cli.checking import Verdict
    from market.errors import Problem
    from market.installer.dependencies import DependencyTerms
    from market.registry.live import LiveSkill
    from market.run.worker_reply import Header
    from market.trust.verify import VerifiedPack

_FIXES = {
    LackKind.IMPORT: "correct the module so that it can be imported, as the message says",
    LackKind.FUNCTION: "",  # the rule's own fix
    LackKind.ARGUMENTS: "let the function take nothing but what the message lists, or one argument of any name",
    LackKind.RUNS: "let the function return its result, as the message says",
}


def prove_code(verdict: Verdict, dependencies: DependencyTerms | None) -> Verdict:
    """Return the verdict on a good wheel with what its code shows; every other verdict as it is, and without `dependencies` all.

    A wheel for another system or Python can't be started here, and is no worse for that.
    """
    path = verdict.path
    if dependencies is None or path.suffix != WHEEL_SUFFIX or path.is_dir() or not verdict.is_installable_here:
        return verdict
    with disk_failures("read", path), path.open("rb") as stream:
        try:
            arrival = acquire_wheel(stream, path.name, Origin("archive", str(path)), dependencies)
        except MarketError as error:
            text = error.message + (f": {error.why}" if error.why else "")
            return replace(
                verdict, problems=(*verdict.problems, make_problem("wheel-not-proven", text, path.name, fix=error.hint))
            )
    return replace(verdict, problems=(*verdict.problems, *_prove(arrival.verified, path.name)))


def _prove(verified: VerifiedPack, file: str) -> tuple[Problem, ...]:
    root = Path(tempfile.mkdtemp(prefix="market-check-"))
    try:
        skills = _unpack(verified, root)
        with Workers(lambda _: skills, processes=1) as workers:
            try:
                with workers.crew(skills[0]).borrow() as worker:
                    hello = worker.hello
            except StartFailed as error:
                # Below the first line is the traceback, which isn't a sentence.
                why = error.why.partition("\n")[0]
                return (make_problem("wheel-code-start", f"{error.message}: {why}", file),)
        return tuple(_compare(skills, hello, file))
    finally:
        remove_tree(root)


def _unpack(verified: VerifiedPack, root: Path) -> tuple[LiveSkill, ...]:
    """Unpack a pack below an empty folder and return its skills as the registry finds them."""
    with disk_failures("write", root):
        (root / verified.name).mkdir()
        descriptor = os.open(root / verified.name, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            unpack(verified.source, verified.record, descriptor)
        finally:
            os.close(descriptor)
    unit = Loader().load(UnitId(str(root), verified.name))
    return unit.skills if unit else ()


def _compare(skills: tuple[LiveSkill, ...], hello: Header, file: str) -> Iterator[Problem]:
    for name, lack in sorted(hello.offers.items(), key=itemgetter(0)):
        if lack:
            text = f"the skill {name} is declared, but {lack.why}"
            yield make_problem("wheel-code-missing", text, file, fix=_FIXES[lack.kind])
    if hello.folders is None:
        return
    declared, named = {live.skill.folder for live in skills}, set(hello.folders)
    for folder in sorted(declared - named):
        yield make_problem(
            "wheel-code-folders", f"{folder} holds a manifest, and market_skills() doesn't name it", file
        )
    for folder in sorted(named - declared):
        yield make_problem(
            "wheel-code-folders", f"market_skills() names {folder}, which holds no manifest that loads", file
        )
