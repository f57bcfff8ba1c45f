"""The name of a guide: what its front matter says, made safe to use as a key, and what the Agent Skills rule says of it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from market.pack.rules import make_problem

if TYPE_CHECKING:
    from market.errors import Problem
    from market.pack.front_matter import FrontMatter

MAX_GUIDE_NAME_CHARACTERS = 64

_GOOD = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_USABLE = re.compile(r"[a-z0-9]+(?:[-_.][a-z0-9]+)*")


def choose_name(matter: FrontMatter, file: str, folder_name: str, fallback_name: str) -> tuple[str, list[Problem]]:
    """Return the skill's name, and what is wrong with how it is given.

    The front matter's name is the identity, in lower case and with hyphens where it has other characters; `fallback_name`
    stands in where there is none.
    """
    value = matter.fields.get("name")
    place = matter.places.get(("name",), (1, 1))
    written = value.strip() if isinstance(value, str) else ""
    is_misshaped = value is not None and not isinstance(value, str)
    problems = [make_problem("field-shape", "'name' is not a text", file, place)] if is_misshaped else []
    name = normalise_name(written) or normalise_name(fallback_name)
    if not name:
        text = "there is no name, and no folder whose name could stand in"
        return "", [*problems, make_problem("field-missing", text, file, place, fix="add a name")]
    if not written:
        is_there = "name" in matter.fields
        text = f"'name' is {'empty' if is_there else 'missing'}; the folder's name {name!r} was taken"
        rule = "guide-name-invalid" if is_there else "guide-name-missing"
        return name, [*problems, make_problem(rule, text, file, place, fix=f"write name: {name}")]
    return name, _judge(written, name, file, place) or _compare(written, name, folder_name, file, place)


def _compare(written: str, name: str, folder_name: str, file: str, place: tuple[int, int]) -> list[Problem]:
    if not folder_name or folder_name in (written, name):
        return []
    text = f"the skill is named {written!r}, its folder {folder_name!r}"
    return [make_problem("guide-name-folder", text, file, place)]


def normalise_name(text: str) -> str:
    """Return a name as a key that is safe in URLs, paths and tool names; empty where nothing is left.

    >>> normalise_name("Trend Researcher")
    'trend-researcher'
    """
    if _USABLE.fullmatch(text) and len(text) <= MAX_GUIDE_NAME_CHARACTERS:
        return text
    name = re.sub(r"[^a-z0-9_]+", "-", text.lower())
    return re.sub(r"-{2,}", "-", name)[:MAX_GUIDE_NAME_CHARACTERS].strip("-_")


def _judge(written: str, name: str, file: str, place: tuple[int, int]) -> list[Problem]:
    """A title or a namespaced name is a habit that clients load; a malformed single word is a mistake."""
    if _GOOD.fullmatch(written) and len(written) <= MAX_GUIDE_NAME_CHARACTERS:
        return []
    if _USABLE.fullmatch(written) and len(written) <= MAX_GUIDE_NAME_CHARACTERS:
        return [
            make_problem(
                "guide-name-style",
                f"the name {written!r} has other characters than letters, digits and single hyphens",
                file,
                place,
            )
        ]
    if re.search(r"[ /:]", written) and len(written) <= MAX_GUIDE_NAME_CHARACTERS and written.isascii():
        return [
            make_problem(
                "guide-name-style", f"the name {written!r} was read as {name!r}", file, place, fix=f"write name: {name}"
            )
        ]
    return [
        make_problem(
            "guide-name-invalid",
            f"the name {written[:80]!r} {_why(written)}; it was read as {name!r}",
            file,
            place,
            fix=f"write name: {name}",
        )
    ]


def _why(written: str) -> str:
    if len(written) > MAX_GUIDE_NAME_CHARACTERS:
        return f"has {len(written)} characters, more than {MAX_GUIDE_NAME_CHARACTERS}"
    if written.startswith(("-", "_")) or written.endswith(("-", "_")):
        return "starts or ends with a hyphen or underscore"
    if "--" in written:
        return "has two hyphens in a row"
    if written.lower() != written:
        return "has capital letters"
    return "has other characters than letters a-z, digits and hyphens"
