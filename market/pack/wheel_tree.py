"""A wheel's files as they stand in a tree, zipped or unpacked: where it describes itself, its packages, and what must not be there.

RECORD is `market.pack.wheel_record`, the zip `market.pack.wheel`. No code of the wheel is run, here or anywhere in this room.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from market.pack.host_modules import HOST_MODULES
from market.pack.record import Record
from market.pack.rules import make_problem

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from market.errors import Problem
    from market.names import Digest

DIST_INFO = ".dist-info"
DIST_INFO_FILES = ("METADATA", "WHEEL", "RECORD")
SITE_FOLDER = ".site"
"""Beside the package: what Market fetched for it to depend on, and a worker imports. Never an author's."""

_MODULE_SUFFIXES = (".py", ".pyi", ".so", ".pyd")


def find_dist_info(paths: Collection[str]) -> str:
    """Return the folder in which a tree describes itself as a wheel, or empty: exactly one, with the files of the standard."""
    folders = dist_infos(paths)
    if len(folders) != 1:
        return ""
    folder = folders[0]
    return folder if all(f"{folder}/{name}" in paths for name in DIST_INFO_FILES) else ""


def dist_infos(paths: Collection[str]) -> list[str]:
    """Return every .dist-info folder at the top."""
    return sorted({top for path in paths if (top := path.partition("/")[0]).endswith(DIST_INFO) and "/" in path})


def own_paths(paths: Collection[str]) -> list[str]:
    """Return the wheel's own files, without what was fetched for it."""
    return [path for path in paths if not path.startswith(f"{SITE_FOLDER}/")]


def own_digest(record: Record) -> Digest:
    """Return the tree digest of what the pack's author made: of an installed wheel without what was fetched for it."""
    if not find_dist_info(record.by_path):
        return record.tree_digest
    return Record(tuple(record.by_path[path] for path in own_paths(record.by_path))).tree_digest


def package_folders(paths: Collection[str]) -> tuple[str, ...]:
    """Return the packages at a wheel's top, in which skills are sought."""
    tops = {path.partition("/")[0] for path in paths if "/" in path}
    return tuple(sorted(top for top in tops if not top.endswith(DIST_INFO) and not top.startswith(".")))


def check_wheel_tree(paths: Collection[str]) -> Iterator[Problem]:
    """Yield a problem for each file that a pack's wheel must not have. `paths` are those that its author answers for."""
    for path in own_paths(paths):
        if path.endswith(".pth"):
            yield make_problem("wheel-pth", f"{path!r} is a path file", path)
        elif path.endswith((".pyc", ".pyo")):
            yield make_problem("wheel-bytecode", f"{path!r} is bytecode", path)
        elif "/" not in path and not path.startswith(".") and not path.endswith(_MODULE_SUFFIXES):
            yield make_problem("wheel-top-file", f"{path!r} is no module", path)
    examples: dict[str, str] = {}
    for path in paths:
        examples.setdefault(path.partition("/")[0], path)
    for top in sorted(examples):
        yield from _check_top(top, examples[top])


def _check_top(top: str, example: str) -> Iterator[Problem]:
    module = top.partition(".")[0]
    if top == SITE_FOLDER:
        yield make_problem("wheel-site", f"{example!r} lies where Market puts what a wheel depends on", example)
    elif top.startswith("."):
        yield make_problem("wheel-hidden", f"{top!r} starts with a dot", example)
    elif top.endswith(".data"):
        yield make_problem("wheel-data", f"{example!r} would be spread outside the package", example)
    elif not top.endswith(DIST_INFO) and (module in sys.stdlib_module_names or module.lower() in HOST_MODULES):
        yield make_problem("wheel-shadows", f"the module {module!r} is already somebody else's", example)


def has_module(paths: Collection[str], module: str) -> bool:
    """Whether a tree holds a module: as a file, a package, or compiled for some platform."""
    stem = module.replace(".", "/")
    if f"{stem}.py" in paths or f"{stem}/__init__.py" in paths:
        return True
    return any(path.startswith((f"{stem}.", f"{stem}/__init__.")) and path.endswith((".so", ".pyd")) for path in paths)


def importable_modules(paths: Collection[str]) -> frozenset[str]:
    """Return every name that `import` finds in a tree: modules, compiled ones too, and folders, which need no `__init__`."""
    found: set[str] = set()
    for path in paths:
        folder, _, name = path.rpartition("/")
        if name.endswith(_MODULE_SUFFIXES) and not name.endswith(".pyi"):
            found.add(f"{folder}/{name.partition('.')[0]}".lstrip("/"))
        while folder and folder not in found:
            found.add(folder)
            folder = folder.rpartition("/")[0]
    return frozenset(module.replace("/", ".") for module in found)
