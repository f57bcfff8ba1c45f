"""What we say that other programs say, held against the programs: the edge cases, and published collections."""

from __future__ import annotations

import shutil
import tomllib
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from market.pack.clients import judge_guide
from market.pack.fixes import fix_guide
from market.pack.front_matter import parse_front_matter
from tests.pack.edge_guides import EDGE_GUIDES
from tests.real import foreign_clients as programs
from tests.real.corpus import all_folders, chosen

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.real

FOLDERS_A_CALL = 500  # Claude Code cuts the line that lists them at 8 KiB
DIFFERENCES = Path(__file__).with_name("client_differences.toml")
ASKED_AT_ONCE: dict[str, Callable[[list[Path]], set[Path]]] = {
    "skills-ref-python": programs.taken_by_skills_ref_python,
    "skills-ref-npm": programs.taken_by_skills_ref_npm,
    "agentskills-tools": programs.taken_by_agentskills_tools,
}
# These are given a tree of copies; of several skills with one name opencode keeps one, so it is asked in batches.
LAID_OUT: dict[str, Callable[[list[Path], Path], set[Path]]] = {
    "npx-skills": programs.taken_by_npx_skills,
    "claude-code": programs.taken_by_claude_code,
    "opencode": programs.taken_by_opencode,
}
CLIENTS = [*ASKED_AT_ONCE, *LAID_OUT]


@pytest.mark.parametrize("client", CLIENTS)
def test_the_programs_take_the_edge_cases_as_the_table_says(client: str, tmp_path: Path) -> None:
    folders: dict[Path, bool] = {}
    for number, guide in enumerate(EDGE_GUIDES):
        folder = tmp_path / "edges" / str(number) / guide.folder
        folder.mkdir(parents=True)
        (folder / guide.file).write_bytes(guide.data)
        folders[folder] = guide.accepts[client]
    taken = _ask(client, list(folders), tmp_path)
    wrong = [
        (guide.id, "taken" if folder in taken else "refused")
        for guide, (folder, accepts) in zip(EDGE_GUIDES, folders.items(), strict=True)
        if (folder in taken) is not accepts
    ]
    assert wrong == []


@pytest.mark.skipif(shutil.which("npm") is None, reason="npm fetches one of the collections")
@pytest.mark.parametrize("client", CLIENTS)
def test_the_programs_agree_with_us_over_published_collections(client: str, tmp_path: Path) -> None:
    folders = {folder.path: folder.key for folder in chosen(all_folders())}
    taken = _ask(client, list(folders), tmp_path)
    ours = {path for path in folders if _ours(path)[client]}
    pinned = {row["folder"] for row in tomllib.loads(DIFFERENCES.read_text()).get(client, [])} & set(folders.values())
    assert {folders[path] for path in taken ^ ours} == pinned


def _ours(folder: Path) -> dict[str, bool]:
    verdict = judge_guide((folder / "SKILL.md").read_bytes(), folder.name)
    return {one.client: one.accepts for one in verdict.clients}


def _ask(client: str, folders: list[Path], work: Path) -> set[Path]:
    try:
        if client in ASKED_AT_ONCE:
            return ASKED_AT_ONCE[client](folders)
        batches = _without_repeats(folders) if client == "opencode" else _in_parts(folders)
        return set().union(*(LAID_OUT[client](batch, work / f"{number}") for number, batch in enumerate(batches)))
    except programs.Missing as missing:
        pytest.skip(str(missing))


def _in_parts(folders: list[Path]) -> list[list[Path]]:
    return [folders[start : start + FOLDERS_A_CALL] for start in range(0, len(folders), FOLDERS_A_CALL)]


def _without_repeats(folders: list[Path]) -> list[list[Path]]:
    """Split folders into batches in which no skill's name occurs twice."""
    seen: Counter[str] = Counter()
    batches: list[list[Path]] = [[]]
    for folder in folders:
        manifest = next(path for path in folder.iterdir() if path.name.lower() == "skill.md")
        name = parse_front_matter(manifest.read_bytes()).fields.get("name")
        number = seen[name] if isinstance(name, str) else 0  # without a name there is nothing to be mixed up
        if number == len(batches):
            batches.append([])
        batches[number].append(folder)
        seen[str(name)] += 1
    return batches


@pytest.mark.skipif(shutil.which("npm") is None, reason="npm fetches one of the collections")
def test_what_is_corrected_has_nothing_left_and_is_taken_by_the_reference(tmp_path: Path) -> None:
    ours: dict[Path, bool] = {}
    for number, folder in enumerate(chosen(all_folders())):
        fixed = fix_guide((folder.path / "SKILL.md").read_bytes(), "SKILL.md")
        if fixed is None:
            continue
        assert fix_guide(fixed.data, "SKILL.md") is None, folder.key
        copy = tmp_path / str(number) / folder.path.name
        copy.mkdir(parents=True)
        (copy / "SKILL.md").write_bytes(fixed.data)
        ours[copy] = _ours(copy)["skills-ref-python"]
    assert sum(ours.values()) > len(ours) / 2
    assert _ask("skills-ref-python", list(ours), tmp_path) == {copy for copy, accepts in ours.items() if accepts}
