"""For every rule an input that breaks it: the example on docs/rules.md, and the proof that the rule can fire.

Written out are only those that no other table of the tests holds: bad packs, hazards of archives and cheating wheels are taken from there.
"""

from __future__ import annotations

import io
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from market.disk.walk import MAX_WALK_DEPTH, MAX_WALK_ENTRIES, open_folder
from market.errors import MarketError, Untrusted
from market.pack.archive_read import read_archive
from market.pack.import_build import convert_archive
from market.pack.inspect import Given, inspect_pack
from market.pack.record import make_record
from market.pack.review import review_pack
from market.pack.source import MemorySource
from market.trust.verify import verify_wheel
from tests.cli.shell import Shell
from tests.factories import SAMPLE_PACKS, a_skill_md
from tests.pack import foreign_makers as makers
from tests.pack.hazards import ALL, STRICT, ask_importer
from tests.pack.test_bad_packs import PLACES, judge
from tests.pack.test_secrets import TOKENS
from tests.pack.test_wheel import test_a_wheel_that_cheats_is_refused_by_a_rule_that_is_named as cheating
from tests.wheels import a_code_wheel, a_wheel, write_wheel

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

MAX_NAMES_SHOWN = 3
MAX_SHOWN_CHARACTERS = 100


@dataclass(frozen=True)
class Proof:
    """An example in words or as it stands in a file, and what returns the rules that it breaks. `fire` gets an empty folder."""

    example: str
    fire: Callable[[Path], set[str]]


def proofs() -> Mapping[str, Proof]:
    """Return a proof for every rule, also of those that only the walk over a folder knows."""
    found = {**_of_imports(), **_of_wheels(), **_of_code(), **_of_folders(), **_of_trees()}
    for hazard in reversed(ALL):
        names = [other.name for other in ALL if other.rule == hazard.rule][:MAX_NAMES_SHOWN]
        found[hazard.rule] = Proof(f"an archive with: {'; '.join(names)}", _archive_fires(hazard.id))
    for rule, file, line, _ in PLACES:
        found[rule] = Proof(_line_of_bad_pack(rule, file, line), _bad_pack_fires(rule))
    return found


def _line_of_bad_pack(rule: str, file: str, line: int) -> str:
    folder = SAMPLE_PACKS / "bad" / rule
    if not file:
        return "a folder without SKILL.md and skill.json" if rule == "pack-empty" else "see the sample"
    if not line or not (folder / file).is_file():
        return f"`{file}`"
    text = (folder / file).read_bytes().decode("utf-8", "backslashreplace").split("\n")[line - 1]
    shown = text.strip().replace("\r", "\\r").replace("|", "\\|")
    shown = shown if len(shown) <= MAX_SHOWN_CHARACTERS else f"{shown[:MAX_SHOWN_CHARACTERS]}..."
    return f"`{file}:{line}`: `` {shown} ``" if shown and shown != "{" else f"`{file}:{line}`"


def _bad_pack_fires(rule: str) -> Callable[[Path], set[str]]:
    return lambda _: {problem.rule for problem in judge(SAMPLE_PACKS / "bad" / rule)[1]}


def _archive_fires(hazard_id: str) -> Callable[[Path], set[str]]:
    (hazard,) = [hazard for hazard in ALL if hazard.id == hazard_id]

    def fire(_: Path) -> set[str]:
        if hazard not in STRICT:
            return {ask_importer(hazard.make())}
        try:
            make_record(read_archive(io.BytesIO(hazard.make())))
        except Untrusted as refusal:
            return {problem.rule for problem in refusal.problems}
        return set()

    return fire


def _of_imports() -> dict[str, Proof]:
    guide, run = {"./SKILL.md": a_skill_md()}, {"run.sh": makers.RUN}
    made: tuple[tuple[str, str, Callable[[], bytes]], ...] = (
        ("import-form", "a compressed zip, or a .tar.gz", makers.github_tarball),
        ("import-wrapper", "`my-pack-1.0.0/SKILL.md`", makers.github_zip),
        ("import-junk", "`__MACOSX/`, `.DS_Store`", makers.finder_zip),
        ("import-dot", "`./SKILL.md`", lambda: makers.tar_gz(guide)),
        ("import-backslash", "`bin\\run.sh`", makers.windows_zip),
        ("import-unmarked", "`café.txt` from the Finder", makers.finder_zip),
        ("import-code-page", "`büro.txt` from the Explorer", makers.windows_zip),
        ("import-normal-form", "`cafe` and a combining accent", makers.finder_zip),
        ("import-mode", "mode 4755", lambda: makers.tar({**guide, **run}, {"run.sh": 0o4755})),
        ("import-executable", "the entry `bin/run.sh` with mode 0644", makers.windows_zip),
        (
            "import-plain",
            "`notes.txt` with mode 0755",
            lambda: makers.tar({**guide, "notes.txt": b"x"}, {"notes.txt": 0o755}),
        ),
    )
    return {rule: Proof(example, _import_fires(make)) for rule, example, make in made}


def _import_fires(make: Callable[[], bytes]) -> Callable[[Path], set[str]]:
    def fire(_: Path) -> set[str]:
        converted = convert_archive(io.BytesIO(make()), Given("x", "1"), io.BytesIO(), io.BytesIO())
        return {change.rule for change in converted.changes}

    return fire


def _of_wheels() -> dict[str, Proof]:
    (mark,) = [mark for mark in cheating.pytestmark if mark.name == "parametrize"]  # type: ignore[attr-defined]
    makes = {rule: make for make, rule, _ in reversed(mark.args[1])}
    points = "[market.skills]\nx = demo_pack\n[console_scripts]\nx = demo_pack:x\n"
    makes["wheel-other-groups"] = lambda: a_wheel(entry_points=points)
    examples = {
        "wheel-dist-info": "two folders `*.dist-info`",
        "wheel-file": "`Wheel-Version: 2.0`",
        "wheel-metadata": "`Name:` twice in METADATA",
        "wheel-group": "no `[market.skills]` in entry_points.txt",
        "wheel-entry-points": "`x = ../x`",
        "wheel-entry-module": "`x = nowhere.plugin`",
        "wheel-other-groups": "`[console_scripts]` in entry_points.txt",
        "wheel-record": "a file that RECORD doesn't name",
        "wheel-pth": "`evil.pth`",
        "wheel-data": "`demo_pack-1.0.0.data/scripts/run`",
        "wheel-bytecode": "`demo_pack/fast.pyc`",
        "wheel-top-file": "`notes.txt` at the top",
        "wheel-hidden": "`.hidden/x.py` at the top",
        "wheel-site": "`.site/x.py` at the top",
        "wheel-shadows": "a package `json`",
        "wheel-dependency-url": "`Requires-Dist: evil @ https://...`",
        "entry-python-form": "`python:demo_pack.skills`",
        "entry-python-module": "`python:os.path:join`",
    }
    found = {rule: Proof(example, _wheel_fires(makes[rule])) for rule, example in examples.items()}
    found["wheel-name"] = Proof("`demo_pack.whl`", _wheel_fires(a_wheel, "demo_pack.whl"))
    found["wheel-name-differs"] = Proof(
        "`other-1.0.0-py3-none-any.whl` with `Name: demo-pack`", _wheel_fires(a_wheel, "other-1.0.0-py3-none-any.whl")
    )
    found["wheel-tags-differ"] = Proof(
        "`demo_pack-1.0.0-py2-none-any.whl` with `Tag: py3-none-any`",
        _wheel_fires(a_wheel, "demo_pack-1.0.0-py2-none-any.whl"),
    )
    return found


def _wheel_fires(
    make: Callable[[], bytes], name: str = "demo_pack-1.0.0-py3-none-any.whl"
) -> Callable[[Path], set[str]]:
    def fire(_: Path) -> set[str]:
        try:
            return {problem.rule for problem in verify_wheel(io.BytesIO(make()), name).problems}
        except MarketError as refusal:
            return {problem.rule for problem in refusal.problems}

    return fire


def _of_code() -> dict[str, Proof]:
    """Rules that only the running code of a wheel can break: through `market check`, which starts it."""
    rows: dict[str, tuple[str, str, dict[str, Any]]] = {
        "wheel-code-missing": (
            "an entry `python:demo_pack.skills:echo_py`, and no such function",
            "py3-none-any",
            {"code": "x = 1\n"},
        ),
        "wheel-code-folders": (
            "`market_skills()` that returns nothing, and a folder with a skill.json",
            "py3-none-any",
            {"more": {"demo_pack/__init__.py": "def market_skills():\n    return []\n"}},
        ),
        "wheel-code-start": (
            "`import nowhere`",
            "py3-none-any",
            {"more": {"demo_pack/__init__.py": "import nowhere\n"}},
        ),
        "wheel-not-proven": (
            "`Requires-Dist: helper`, where the operator forbids dependencies",
            "py3-none-any",
            {"requires": ("helper",)},
        ),
    }
    return {rule: Proof(example, _code_fires(tag, options)) for rule, (example, tag, options) in rows.items()}


def _code_fires(tag: str, options: dict[str, Any]) -> Callable[[Path], set[str]]:
    def fire(top: Path) -> set[str]:
        wheel = write_wheel(top, a_code_wheel(**options), tag=tag)
        with pytest.MonkeyPatch.context() as patch:
            shell = Shell(top, patch)
            shell.environ["MARKET_FORBID_DEPENDENCIES"] = "all"
            (item,) = shell("check", wheel, "--json", expect=None).json["items"]
        return {problem["rule"] for problem in item["problems"]}

    return fire


def _of_trees() -> dict[str, Proof]:
    many = {f"s{number:03}/SKILL.md": a_skill_md(f"s{number:03}") for number in range(151)}
    manifest = {"pack.yaml": b'name: tools\nversion: "1.0"\n', "SKILL.md": a_skill_md()}
    rows: tuple[tuple[str, str, Mapping[str, bytes], Given], ...] = (
        ("file-too-large", "a SKILL.md of 2 MB", {"SKILL.md": b"x" * (2 << 20)}, Given("x", "1")),
        ("file-large", "a SKILL.md of 300 kB", {"SKILL.md": a_skill_md(body="x" * 300_000)}, Given()),
        ("name-overridden", "`--name other` for a pack.yaml with `name: tools`", manifest, Given("other", "1.0")),
        ("version-overridden", "`--version 2.0` for a pack.yaml with `version: 1.0`", manifest, Given("tools", "2.0")),
        ("secret", "`token=ghp_...` in `notes.md`", {"SKILL.md": a_skill_md(), "notes.md": TOKENS["ghp_"].encode()}, Given()),
        ("scan-limit", "a file of 17 MB", {"SKILL.md": a_skill_md(), "data.bin": bytes(17 << 20)}, Given()),
        ("path-windows", "`what?.txt`", {"SKILL.md": a_skill_md(), "what?.txt": b""}, Given()),
        ("prompt-budget", "a pack of 151 guides", many, Given("x", "1")),
        ("skill-large", "a skill of 600 files", {"SKILL.md": a_skill_md(), **{f"data/{number}": b"" for number in range(600)}}, Given()),
    )  # fmt: skip
    return {rule: Proof(example, _tree_fires(files, given)) for rule, example, files, given in rows}


def _tree_fires(files: Mapping[str, bytes], given: Given) -> Callable[[Path], set[str]]:
    def fire(_: Path) -> set[str]:
        source = MemorySource(files, name="greeting")
        inspection = inspect_pack(source, given)
        reviewed = review_pack(source, inspection.pack) if inspection.pack else ()
        return {problem.rule for problem in (*inspection.problems, *reviewed)}

    return fire


def _of_folders() -> dict[str, Proof]:
    rows: dict[str, tuple[str, Callable[[Path], Any]]] = {
        "folder-link": ("`a.txt` that links to `SKILL.md`", lambda top: (top / "a.txt").symlink_to("SKILL.md")),
        "folder-link-outside": ("`a.txt` that links to `/etc/hostname`", lambda top: (top / "a.txt").symlink_to("/etc/hostname")),
        "folder-link-broken": ("`a.txt` that links to `gone`", lambda top: (top / "a.txt").symlink_to("gone")),
        "folder-link-loop": ("`sub/up` that links to `..`", _make_loop),
        "folder-special-file": ("a pipe or a socket", lambda top: os.mkfifo(top / "pipe")),
        "folder-unreadable": ("a file with mode 0000", _make_unreadable),
        "folder-name-encoding": ("a name with the byte 0xE9", lambda top: open(os.fsencode(top) + b"/caf\xe9", "wb").close()),
        "folder-too-deep": (f"more than {MAX_WALK_DEPTH} folders in each other", lambda top: (top / "/".join("d" * (MAX_WALK_DEPTH + 2))).mkdir(parents=True)),
        "folder-too-many-files": (f"more than {MAX_WALK_ENTRIES:,} files", _make_many),
        "folder-ignore-file": ("a `.marketignore` that is not UTF-8", lambda top: (top / ".marketignore").write_bytes(b"\xe9")),
        "folder-ignored-manifest": ("`*.md` in `.marketignore`", lambda top: (top / ".marketignore").write_text("*.md\n")),
    }  # fmt: skip
    return {rule: Proof(example, _folder_fires(make)) for rule, (example, make) in rows.items()}


def _folder_fires(make: Callable[[Path], Any]) -> Callable[[Path], set[str]]:
    def fire(top: Path) -> set[str]:
        (top / "SKILL.md").write_bytes(a_skill_md())
        make(top)
        with open_folder(top) as folder:
            return {problem.rule for problem in folder.problems}

    return fire


def _make_loop(top: Path) -> None:
    (top / "sub").mkdir()
    (top / "sub/up").symlink_to("..")


def _make_unreadable(top: Path) -> None:
    (top / "closed").mkdir(mode=0)
    (top / "closed.txt").touch(mode=0)


def _make_many(top: Path) -> None:
    for number in range(MAX_WALK_ENTRIES // 100 + 1):
        (top / f"d{number}").mkdir()
        for other in range(100):
            os.close(os.open(top / f"d{number}/{other}", os.O_CREAT | os.O_WRONLY))
