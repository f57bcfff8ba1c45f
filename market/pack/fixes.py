"""Corrections that can be made without asking: the same meaning for us, and a file that stricter readers take.

Each is made in the bytes of the file, checked by reading the result, and dropped where that isn't exactly what was meant.
All other bytes stay. Nothing is written here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import yaml

from market.pack.front_matter import cut_head, parse_front_matter
from market.pack.guide_fields import find_movable, join_listed
from market.pack.text import parse_text
from market.pack.yaml_repair import quote_text, repair_yaml
from market.pack.yaml_text import YamlFault, compose_yaml, parse_yaml

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from market.model import Pack
    from market.pack.source import Source, SourceFile

DEFAULT_INDENT = 2
MAX_SCRIPT_BYTES = 4 << 20

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./()*-]*(?:[ ,:][A-Za-z0-9_./()*-]+)*")
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Fix:
    """A file's new bytes, and a line for each thing that was changed in it."""

    file: str
    data: bytes
    changes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Block:
    """A field of the head: its lines from `start` to before `end`, without blank lines and comments behind it."""

    key: str
    start: int
    end: int
    value: yaml.Node


def propose_fixes(source: Source, pack: Pack, *, front_matter: bool, line_ends: bool) -> tuple[Fix, ...]:
    """Return the corrections for a pack's files: of its guides' front matter, and of the line ends in its scripts."""
    fixes: list[Fix | None] = []
    if front_matter:
        guides = [skill.guide.manifest for skill in pack.skills if skill.guide]
        fixes += [fix_guide(source.read(path), path) for path in guides]
    if line_ends:
        fixes += [
            fix_line_ends(source.read(file.path), file.path) for file in source.files() if _is_script(source, file)
        ]
    return tuple(fix for fix in fixes if fix)


def fix_guide(data: bytes, file: str) -> Fix | None:
    """Correct the front matter of a SKILL.md: quote what isn't YAML, one text for lists, unknown fields under `metadata`.

    None where nothing is to be done, and for a file that can't be read or whose front matter isn't closed.
    """
    matter, text = parse_front_matter(data, file), parse_text(data, file)
    if matter.is_broken or any(problem.rule == "front-matter-unclosed" for problem in matter.problems):
        return None
    cut = cut_head(text.text, file)
    if isinstance(cut, tuple) or b"\r" in data.replace(b"\r\n", b""):
        return None
    head, changes, fields = cut.head, [], dict(matter.fields)
    for step in (_quote, _join_lists, _move_fields):
        head, done, fields = _keep_if_true(step, head, fields)
        changes += done
    if not changes:
        return None
    return Fix(file, _put_back(data, cut.head, head, cut.first_line), tuple(changes))


def fix_line_ends(data: bytes, file: str) -> Fix | None:
    """Give a script LF line ends; None where it has no CRLF, or is no script."""
    if not data.startswith(b"#!") or b"\r\n" not in data or b"\0" in data:
        return None
    return Fix(file, data.replace(b"\r\n", b"\n"), (f"{data.count(bytes([13, 10])):,} line ends from CRLF to LF",))


def _is_script(source: Source, file: SourceFile) -> bool:
    if file.size > MAX_SCRIPT_BYTES:
        return False
    with source.open(file.path) as stream:
        return stream.read(2) == b"#!"


def _keep_if_true(
    step: Callable[[str, Mapping[str, Any]], tuple[str, list[str], dict[str, Any]]], head: str, fields: dict[str, Any]
) -> tuple[str, list[str], dict[str, Any]]:
    """Take a step only if the new head reads as exactly the fields that the step meant."""
    try:
        changed, changes, meant = step(head, fields)
        read = parse_yaml(changed, "") if changes else None
    except YamlFault:
        return head, [], fields
    return (changed, changes, meant) if read and not read.problems and read.value == meant else (head, [], fields)


def _quote(head: str, fields: Mapping[str, Any]) -> tuple[str, list[str], dict[str, Any]]:
    if _is_yaml(head):
        return head, [], dict(fields)
    repaired, repairs = repair_yaml(head)
    # A value over several lines becomes one; the lines that it leaves behind were emptied.
    pairs = zip(head.split("\n"), repaired.split("\n"), strict=True)
    lines = [new for old, new in pairs if new or not old.strip()]
    return "\n".join(lines), [f"{repair.key!r} was put in quotes" for repair in repairs], dict(fields)


def _is_yaml(head: str) -> bool:
    try:
        parse_yaml(head, "")
    except YamlFault:
        return False
    return True


def _join_lists(head: str, fields: Mapping[str, Any]) -> tuple[str, list[str], dict[str, Any]]:
    joined = join_listed(fields)
    lines, meant, changes = head.split("\n"), dict(fields), []
    for block in reversed(_find_blocks(head) if joined else []):
        old = lines[block.start : block.end]
        if block.key in joined and not any("#" in line for line in old):
            text = joined[block.key]
            lines[block.start : block.end] = [f"{block.key}: {text if _PLAIN.fullmatch(text) else quote_text(text)}"]
            meant[block.key] = text
            changes.append(f"{block.key!r} was a list and is one text")
    return "\n".join(lines), changes[::-1], meant


def _move_fields(head: str, fields: Mapping[str, Any]) -> tuple[str, list[str], dict[str, Any]]:
    lines, meant = head.split("\n"), dict(fields)
    blocks = _find_blocks(head)
    target = next((block for block in blocks if block.key == "metadata"), None)
    indent = _find_indent(target)
    known = fields.get("metadata") or {}
    movable = [key for key in find_movable(fields) if isinstance(known, dict) and key not in known]
    moved = [block for block in blocks if block.key in movable]
    if indent is None or not moved:
        return head, [], meant
    inserted = [
        " " * indent + line if line.strip() else line for block in moved for line in lines[block.start : block.end]
    ]
    at = target.end if target else _last_line(lines)
    removed = {number for block in moved for number in range(block.start, block.end)}
    result: list[str] = []
    for number, line in enumerate([*lines, ""]):
        if number == at:
            result += inserted if target else ["metadata:", *inserted]
        if number < len(lines) and number not in removed:
            result.append(line)
    meant = {key: value for key, value in meant.items() if key not in movable}
    meant["metadata"] = {**known, **{block.key: fields[block.key] for block in moved}}
    return "\n".join(result), [f"{block.key!r} was moved under 'metadata'" for block in moved], meant


def _find_indent(target: _Block | None) -> int | None:
    """Return how deep the fields of `metadata` stand; None where nothing can be added to it."""
    if target is None:
        return DEFAULT_INDENT
    if isinstance(target.value, yaml.MappingNode):
        return None if target.value.flow_style or not target.value.value else target.value.start_mark.column
    return DEFAULT_INDENT if isinstance(target.value, yaml.ScalarNode) and not target.value.value else None


def _find_blocks(head: str) -> list[_Block]:
    """Return the fields of a block mapping that starts in the first column, in their order; empty for any other form."""
    root = compose_yaml(head)
    if not isinstance(root, yaml.MappingNode) or root.flow_style or root.start_mark.column:
        return []
    lines, starts = head.split("\n"), [key.start_mark.line for key, _ in root.value]
    blocks = []
    for number, (key, value) in enumerate(root.value):
        end = starts[number + 1] if number + 1 < len(starts) else len(lines)
        while end > starts[number] + 1 and (not lines[end - 1].strip() or lines[end - 1].startswith("#")):
            end -= 1
        blocks.append(_Block(str(key.value), starts[number], end, value))
    return blocks


def _last_line(lines: Iterable[str]) -> int:
    """Return the place behind the last line with text."""
    return max((number + 1 for number, line in enumerate(lines) if line.strip()), default=0)


def _put_back(data: bytes, old: str, new: str, first_line: int) -> bytes:
    """Replace the head in the file's bytes: BOM, line ends and all other lines stay as they are."""
    bom = _BOM if data.startswith(_BOM) else b""
    raw = data.removeprefix(_BOM).split(b"\n")
    start, count = first_line - 1, old.count("\n")
    before, own, after = raw[:start], raw[start : start + count], raw[start + count :]
    # Lines that stay keep their own end; new ones end as the first line of the file does.
    kept = {line.rstrip(b"\r"): line for line in own}
    end = b"\r" if raw[0].endswith(b"\r") else b""
    lines = [kept.get(line.encode(), line.encode() + end) for line in new.split("\n")[: new.count("\n")]]
    return bom + b"\n".join([*before, *lines, *after])
