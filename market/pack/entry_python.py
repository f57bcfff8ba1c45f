"""The entry of a python skill, `python:package.module:function`: what it names. Whether the function is there, only the worker can say."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from market.pack.rules import make_problem
from market.pack.wheel_tree import has_module

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from market.errors import Problem
    from market.pack.skill_json import CommandManifest
    from market.pack.source import SourceFile

PREFIX = "python:"
_FORM = re.compile(r"python:([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*):([A-Za-z_]\w*)", re.ASCII)


def is_python_entry(entry: str) -> bool:
    """Whether an entry names Python code, well or badly."""
    return entry.startswith(PREFIX)


def split_python_entry(entry: str) -> tuple[str, str] | None:
    """Return module and function that an entry names, or None where it has another form.

    >>> split_python_entry("python:text_tools.compare:json_diff")
    ('text_tools.compare', 'json_diff')
    """
    match = _FORM.fullmatch(entry)
    return (match[1], match[2]) if match else None


def check_python_entry(manifest: CommandManifest, files: Mapping[str, SourceFile]) -> Iterator[Problem]:
    """Yield what is wrong with a python entry: its form, or a module that the wheel doesn't hold."""
    named = split_python_entry(manifest.entry)
    if named is None:
        yield make_problem(
            "entry-python-form", f"the entry is {manifest.entry[:200]!r}", manifest.file, manifest.find_place("entry")
        )
    elif not has_module(files, named[0]):
        text = f"the entry's module {named[0]!r} is not in the wheel"
        yield make_problem("entry-python-module", text, manifest.file, manifest.find_place("entry"))
