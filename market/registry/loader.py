"""From a directory to its skills: read the tree, hold it against its receipt, parse the manifests, and say in which state each is.

One verdict for all: the parser is the one that `market check` and the index use. Nothing that is wrong with one unit, or one
manifest, stops the others.
"""

from __future__ import annotations

import logging
import re
import threading
from collections import OrderedDict
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from market.errors import MarketError, NotFound
from market.installer.machine import Machine
from market.installer.root import Root
from market.installer.tree_state import read_unit
from market.pack.inspect import Given, inspect_pack
from market.pack.source import PartOfSource
from market.registry.judge import judge
from market.registry.links import dropped_link, find_linked_manifests, find_target
from market.registry.live import SOURCE_PACK, SOURCE_WORKSPACE, LiveSkill
from market.registry.refusals import find_dropped, refuse_entry
from market.registry.rooted import find_outside, resolve
from market.registry.roots import installed_names, is_link, leaves_root
from market.registry.snapshot import plain_key
from market.registry.switches import Switches
from market.registry.tree import Tree, has_manifest, take_tree
from market.registry.tree_marks import TreeMarks, mark_file, scan_tree
from market.registry.unit import Dropped, LoadedUnit, UnitId

if TYPE_CHECKING:
    from market.errors import Problem
    from market.installer.tree_state import UnitReading
    from market.model import Pack, Skill
    from market.pack.inspect import Inspection
    from market.pack.source import Source
    from market.registry.unit import StatMark

MAX_REMEMBERED_TREES = 20_000

_log = logging.getLogger("market.registry")


class Loader:
    """Reads units. It remembers what it parsed by tree digest, so that the same tree is parsed once."""

    def __init__(
        self, integrity: str = "hold", machine: Machine | None = None, link_targets: tuple[str, ...] = ()
    ) -> None:
        self._link_targets = link_targets
        self._holds = integrity == "hold"
        self._machine = machine or Machine()
        self._switches = Switches()
        self._parsed: OrderedDict[tuple[str, str, Given], Inspection] = OrderedDict()
        self._lock = threading.Lock()
        self._root = cache(lambda root: Root(Path(root)))

    def load(self, unit: UnitId) -> LoadedUnit | None:
        """Read one unit; None where nothing stands there. Whatever is wrong becomes part of the result."""
        children = installed_names(unit.root) if not unit.name else frozenset()
        marks = scan_tree(unit.path, children)
        if unit.name and is_link(unit.path):
            # What an allowed one leads to is a unit of its own: see `LinkedFolders`.
            is_followed = Path(unit.path).is_dir() and find_target(unit.path, self._link_targets)
            row = dropped_link(unit.path, unit.root)
            return None if is_followed else replace(_nothing(unit, (0, 0), marks), dropped=(row,))
        try:
            with read_unit(self._root(unit.root), unit.name) as reading:
                if reading.folder is None:
                    return None
                tree = take_tree(unit, reading, reading.folder, marks, children)
                return self._load_found(tree, reading)
        except NotFound:
            return None
        except MarketError as error:
            return _failed(unit, marks, f"{error.message}: {error.why}" if error.why else error.message)
        except Exception as error:
            # One unit that nobody foresaw must not keep the others from loading (mission A15).
            _log.exception("reading %s failed", unit.path)
            return _failed(unit, marks, f"{type(error).__name__}: {error}")

    def _load_found(self, tree: Tree, reading: UnitReading) -> LoadedUnit:
        """Load a tree whose manifests may be links; in an installed pack such a link is an edit."""
        problems = reading.folder.problems if reading.folder and not reading.receipt else ()
        linked, refused = find_linked_manifests(tree.unit, problems, self._link_targets)
        if linked:
            # Without a digest: it would have to change with what lies elsewhere.
            tree = replace(tree, source=PartOfSource(tree.source, replaced=linked), digest="")
        loaded = self._load(tree) if has_manifest(tree.source) else _nothing(tree.unit, tree.identity, tree.marks)
        return replace(loaded, dropped=(*loaded.dropped, *refused)) if refused else loaded

    def _load(self, tree: Tree) -> LoadedUnit:
        inspection, escaped = self._inspect(tree)
        pack = inspection.pack
        found = pack.skills if pack else ()
        skills: list[LiveSkill] = []
        dropped = list(find_dropped(tree.unit, tree.source, inspection.problems, found, escaped))
        for skill in found:
            live = self._live(tree, inspection, skill)
            if refused := _refuse_absolute(tree.unit, live):
                dropped.append(refused)
            else:
                skills.append(live)
        told = {id(problem) for live in skills for problem in live.problems}
        told.update(id(problem) for row in dropped for problem in row.problems)
        return LoadedUnit(
            unit=tree.unit,
            device=tree.identity[0],
            inode=tree.identity[1],
            pack=pack.name if pack else tree.unit.name,
            version=_version(tree, pack),
            tree_digest=tree.digest,
            signature=tree.marks.signature,
            skills=tuple(skills),
            dropped=tuple(dropped),
            problems=tuple(problem for problem in inspection.problems if id(problem) not in told),
            watched=_watched(tree, skills),
            source=_source(tree),
        )

    def _inspect(self, tree: Tree) -> tuple[Inspection, dict[str, str]]:
        given = Given(tree.receipt.pack_name, tree.receipt.version.text) if tree.receipt else Given()
        inspection = self._parse(tree, given)
        if inspection.pack is None and not given.name:
            # A folder may be called anything; the skills in it are good all the same.
            given = Given(_plain_name(tree.unit.path))
            inspection = self._parse(tree, given)
        outside = find_outside(tree.source, inspection.problems, tree.unit.path, tree.unit.root)
        if outside.rewritten:
            inspection = _inspect_tree(PartOfSource(tree.source, replaced=outside.rewritten), given)
        return inspection, dict(outside.escaped)

    def _parse(self, tree: Tree, given: Given) -> Inspection:
        if not tree.digest:
            return _inspect_tree(tree.source, given)
        key = tree.digest, tree.source.name, given
        with self._lock:
            known = self._parsed.get(key)
        if known is None:
            known = _inspect_tree(tree.source, given)
            with self._lock:
                self._parsed[key] = known
                while len(self._parsed) > MAX_REMEMBERED_TREES:
                    self._parsed.popitem(last=False)
        return known

    def _live(self, tree: Tree, inspection: Inspection, skill: Skill) -> LiveSkill:
        pack = inspection.pack
        missing = self._machine.lacks(*((pack.needs,) if pack else ()), skill.needs)
        is_disabled = self._switches.find(tree.unit).covers(tree.unit.name, skill.name)
        state, reasons = judge(tree.standing, skill, missing, holds=self._holds, is_disabled=is_disabled)
        return LiveSkill(
            key=plain_key(skill.name),
            skill=skill,
            pack=pack.name if pack else tree.unit.name,
            version=_version(tree, pack),
            state=state,
            root=tree.unit.root,
            unit=tree.unit.path,
            device=tree.identity[0],
            inode=tree.identity[1],
            tree_digest=tree.digest,
            publisher=tree.receipt.publisher if tree.receipt else "",
            problems=(*reasons, *_problems_of(skill, inspection.problems)),
            source=_source(tree),
        )


def _inspect_tree(source: Source, given: Given) -> Inspection:
    # Whoever may write into a root may put there whatever runs; what others send passes an install before it.
    return inspect_pack(source, given, made_here=True)


def _nothing(unit: UnitId, identity: tuple[int, int], marks: TreeMarks) -> LoadedUnit:
    """A directory without any manifest: remembered with its marks, so that it is looked at again when it changes."""
    return LoadedUnit(unit, *identity, pack=unit.name, version="", tree_digest="", signature=marks.signature)


def _failed(unit: UnitId, marks: TreeMarks, why: str) -> LoadedUnit:
    return replace(_nothing(unit, (0, 0), marks), dropped=(Dropped(unit.path, "", why),))


def _refuse_absolute(unit: UnitId, live: LiveSkill) -> Dropped | None:
    """Refuse an absolute entry that doesn't lie under the root; relative ones were found in the tree itself."""
    command = live.skill.command
    if command is None or not command.entry.startswith("/"):
        return None
    real = resolve(f"{unit.path}/{command.manifest}", command.entry)
    return refuse_entry(unit, live, command.manifest, real) if leaves_root(real, unit.root) else None


def _problems_of(skill: Skill, problems: tuple[Problem, ...]) -> tuple[Problem, ...]:
    files = {side.manifest for side in (skill.command, skill.guide) if side}
    if skill.command:
        files.add(f"{skill.folder}/{skill.command.entry}".removeprefix("/").replace("/./", "/"))
    return tuple(problem for problem in problems if problem.file in files)


def _source(tree: Tree) -> str:
    return SOURCE_PACK if tree.standing.is_managed else SOURCE_WORKSPACE


def _version(tree: Tree, pack: Pack | None) -> str:
    if tree.receipt:
        return tree.receipt.version.text
    return pack.version.text if pack and pack.version else ""


def _plain_name(path: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", path.rpartition("/")[2].lower()).strip("-")[:64].strip("-") or "unnamed"


def _watched(tree: Tree, skills: list[LiveSkill]) -> tuple[tuple[str, StatMark], ...]:
    """The files that are compared before a skill is used: manifests and entries, and the directory itself."""
    paths = {side.manifest for live in skills for side in (live.skill.command, live.skill.guide) if side}
    entries = {
        f"{live.skill.folder}/{live.skill.command.entry}".removeprefix("/")
        for live in skills
        if live.skill.command and not live.skill.command.entry.startswith("/")
    }
    marks = tuple(
        (path, tree.marks.files.get(path) or mark_file(f"{tree.unit.path}/{path}")) for path in sorted(paths | entries)
    )
    return (("", tree.marks.top), *marks)
