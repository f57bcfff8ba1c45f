"""What an author should know before giving a pack away: what is suspicious in it, and what will disappoint its users.

Loaders don't ask this: a pack that `market.pack.inspect` takes works; here is how well. Nothing is repeated that it says already.
"""

from __future__ import annotations

import posixpath
import re
from itertools import islice
from typing import TYPE_CHECKING

from market.model import Kind
from market.pack.dangers import find_dangers
from market.pack.entry import FIRST_BYTES, resolve_entry
from market.pack.guide_fields import find_movable, join_listed
from market.pack.import_names import find_junk
from market.pack.rules import make_problem
from market.pack.text import parse_text, read_manifest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from market.errors import Problem
    from market.model import Pack, Skill
    from market.pack.source import Source, SourceFile

MAX_PATH_CHARACTERS = 100
MAX_BODY_LINES = 500
MAX_BODY_CHARACTERS = 20_000  # 5,000 tokens of four characters
MAX_LISTED_SKILLS = 150
MAX_LISTED_CHARACTERS = 18_000
LISTED_CHARACTERS_A_SKILL = 90  # what OpenClaw writes around a name, a description and a place
MAX_SKILL_FILES = 512
MAX_SKILL_BYTES = 16 << 20
MAX_NAMED_TOLD = 10
MAX_FIELDS_TOLD = 20

_WHEN = re.compile(
    r"\b(?:when|whenever|while|if|before|after|during|once|until|upon|unless|use (?:this|it|for|to|in|as|with)|used? (?:for|to|by)"
    r"|for use|trigger(?:s|ed)?|invoke[ds]?|activate[ds]?|helps?|useful|needs? to|asks?|wants?)\b",
    re.IGNORECASE,
)
_WINDOWS_REFUSES = re.compile(r'[<>"|?*]')
_EDITORS = re.compile(r"(?:~|\.swp|\.swo|\.orig|\.bak|/#[^/]*#|^#[^/]*#)$")
_HEAD = re.compile(r"\s*---[ \t]*\n.*?^---[ \t]*$", re.DOTALL | re.MULTILINE)
_OWN_FOLDER = r"(?:\./|\{baseDir\}/|\$\{CLAUDE_SKILL_DIR\}/|\$\{?SKILL_DIR\}?/)?"
_NAMED = re.compile(
    rf"(?:\]\({_OWN_FOLDER}(?P<link>[A-Za-z0-9_][A-Za-z0-9_./-]*\.[A-Za-z0-9]+)(?:#[^)\s]*)?\)"
    rf"|(?:^|(?<=[\s`\"'(])){_OWN_FOLDER}(?P<script>scripts/[A-Za-z0-9_./-]+\.(?:sh|py|js|mjs|cjs|ts|rb|pl|ps1)))(?![A-Za-z0-9_/])",
    re.MULTILINE,
)
_CODE = re.compile(r"^(?:```|~~~).*?^(?:```|~~~)", re.DOTALL | re.MULTILINE)


def review_pack(source: Source, pack: Pack) -> tuple[Problem, ...]:
    """Return what an author should look at, in the order of the files."""
    files = {file.path: file for file in source.files()}
    entries = {resolve_entry(skill.folder, skill.command.entry) for skill in pack.skills if skill.command}
    problems = [problem for path in files for problem in _review_path(path)]
    problems += find_dangers(source)
    problems += [problem for file in files.values() for problem in _review_start(source, file, file.path in entries)]
    for skill in pack.skills:
        problems.extend(_review_size(skill, files))
        if skill.guide:
            problems.extend(_review_guide(source, skill, files))
    problems.extend(_review_listing(pack))
    return tuple(sorted(problems, key=lambda problem: (problem.file.encode(), problem.line, problem.column)))


def _review_path(path: str) -> Iterator[Problem]:
    if len(path) > MAX_PATH_CHARACTERS:
        yield make_problem("path-length", f"the path has {len(path)} characters", path)
    if find_junk(path) or _EDITORS.search(path):
        yield make_problem("junk-file", f"{path.rpartition('/')[2]!r} is no part of the work", path)
    if found := _WINDOWS_REFUSES.search(path):
        yield make_problem("path-windows", f"the path holds {found[0]!r}", path)


def _review_start(source: Source, file: SourceFile, is_entry: bool) -> Iterator[Problem]:
    if not file.size:
        return
    with source.open(file.path) as stream:
        line = stream.read(FIRST_BYTES).partition(b"\n")[0]
    if line.startswith(b"#!") and line.endswith(b"\r") and not is_entry:  # of an entry `market.pack.entry` says it
        yield make_problem("script-line-ends", f"{file.path}: line 1 ends in CRLF", file.path, (1, len(line)))


def _review_guide(source: Source, skill: Skill, files: Mapping[str, SourceFile]) -> Iterator[Problem]:
    file = skill.guide.manifest if skill.guide else ""
    text = parse_text(read_manifest(source, files[file]), file).text
    head = _HEAD.match(text)
    at = head.end() if head else 0
    fields = skill.guide.front_matter if skill.guide else {}
    is_english = isinstance(fields.get("description"), str) and skill.description.isascii()
    if skill.kind is Kind.GUIDE and is_english and not _WHEN.search(skill.description):
        found = re.search(r"^description:[ \t]*", text[:at], re.MULTILINE)
        place = (text.count("\n", 0, found.start()) + 1, found.end() - found.start() + 1) if found else (1, 1)
        yield make_problem("description-when", "the description doesn't say when to use the skill", file, place)
    body = text[at:]
    lines = body.count("\n")
    if lines > MAX_BODY_LINES or len(body) > MAX_BODY_CHARACTERS:
        yield make_problem("guide-body-long", f"the text has {lines:,} lines and {len(body):,} characters", file)
    yield from _review_fields(skill, file, text[:at])
    yield from _review_named(text, at, skill, file, files)


def _review_fields(skill: Skill, file: str, head: str) -> Iterator[Problem]:
    fields = skill.guide.front_matter if skill.guide else {}
    found = dict.fromkeys(find_movable(fields), ("guide-field-unknown", "no rule knows the field {!r}"))
    found |= dict.fromkeys(join_listed(fields), ("guide-field-list", "{!r} is a list"))
    for key, (rule, text) in islice(found.items(), MAX_FIELDS_TOLD):
        at = re.search(rf"^[\"']?{re.escape(key)}[\"']?[ \t]*:", head, re.MULTILINE)
        yield make_problem(
            rule, text.format(key[:80]), file, (head.count("\n", 0, at.start()) + 1, 1) if at else (1, 1)
        )


def _review_named(text: str, at: int, skill: Skill, file: str, files: Mapping[str, SourceFile]) -> Iterator[Problem]:
    told: set[str] = set()
    in_code = [match.span() for match in _CODE.finditer(text, at)]
    for match in _NAMED.finditer(text, at):
        name = match["link"] or match["script"]
        is_example = match["link"] and any(start <= match.start() < end for start, end in in_code)
        if name in told or is_example or len(told) >= MAX_NAMED_TOLD or _is_there(name, skill.folder, files):
            continue
        told.add(name)
        start = match.start("link" if match["link"] else "script")
        place = (text.count("\n", 0, start) + 1, start - text.rfind("\n", 0, start))
        yield make_problem("file-named-absent", f"{name!r} is named, and not in the pack", file, place)


def _is_there(name: str, folder: str, files: Mapping[str, SourceFile]) -> bool:
    """A path is meant from the skill's folder, or from the pack's top."""
    for base in (folder, ""):
        path = posixpath.normpath(posixpath.join(base, name))
        if path in files or any(other.startswith(f"{path}/") for other in files):
            return True
    return False


def _review_size(skill: Skill, files: Mapping[str, SourceFile]) -> Iterator[Problem]:
    own = [file for path, file in files.items() if not skill.folder or path.startswith(f"{skill.folder}/")]
    size = sum(file.size for file in own)
    if len(own) > MAX_SKILL_FILES or size > MAX_SKILL_BYTES:
        side = skill.guide or skill.command
        text = f"the skill {skill.name!r} has {len(own):,} files and {size:,} bytes"
        yield make_problem("skill-large", text, side.manifest if side else "")


def _review_listing(pack: Pack) -> Iterator[Problem]:
    guides = [skill for skill in pack.skills if skill.guide and not skill.guide.disable_model_invocation]
    size = sum(len(skill.name) + len(skill.description) + LISTED_CHARACTERS_A_SKILL for skill in guides)
    if len(guides) > MAX_LISTED_SKILLS or size > MAX_LISTED_CHARACTERS:
        yield make_problem(
            "prompt-budget", f"the pack's {len(guides)} guides take about {size:,} characters of a prompt"
        )
