"""What is wrong with a wheel as a pack, seen from its tree: its files, its description of itself and its entry points.

`inspect_pack` asks this beside the rules for all packs. RECORD is held against the files where the wheel itself is read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from market.pack.entry_points import check_groups, check_targets, parse_entry_points
from market.pack.rules import make_problem
from market.pack.text import read_manifest
from market.pack.wheel_metadata import check_dist_info
from market.pack.wheel_tree import check_wheel_tree

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from market.errors import Problem
    from market.pack.pack_manifest import PackManifest
    from market.pack.source import Source, SourceFile


def check_wheel(source: Source, files: Mapping[str, SourceFile], manifest: PackManifest) -> Iterator[Problem]:
    """Yield the problems of a wheel whose METADATA was parsed as `manifest`. `files` are its own."""
    dist_info = manifest.file.partition("/")[0]
    yield from check_wheel_tree(files)
    yield from check_dist_info(dist_info, manifest)
    file = f"{dist_info}/entry_points.txt"
    if file not in files:
        yield make_problem("wheel-group", "it has no entry points", manifest.file)
        return
    data = read_manifest(source, files[file])
    points, problems = parse_entry_points(data, file)
    yield from problems
    if not problems:
        yield from check_groups(points, file)
        yield from check_targets(points, file, files)
