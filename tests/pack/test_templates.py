"""What `market new` writes is a good pack."""

from __future__ import annotations

import ast

import pytest

from market.errors import InvalidInput
from market.pack.inspect import inspect_pack
from market.pack.source import MemorySource
from market.pack.templates import KINDS, TemplateKind, new_pack


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "plugin"])
def test_a_new_pack_has_no_problem(kind: TemplateKind) -> None:
    files = new_pack(kind, "My_Pack")
    executables = frozenset(path for path, (_, executable) in files.items() if executable)
    inspection = inspect_pack(
        MemorySource({path: content for path, (content, _) in files.items()}, executables=executables)
    )
    assert inspection.problems == ()
    assert inspection.pack is not None
    assert (inspection.pack.name, str(inspection.pack.version), len(inspection.pack.skills)) == ("my-pack", "0.1.0", 1)


def test_the_script_is_python() -> None:
    ast.parse(new_pack("command", "x")["run.py"][0])


def test_a_bad_name_is_refused() -> None:
    with pytest.raises(InvalidInput):
        new_pack("guide", "no good!")


@pytest.mark.parametrize("name", ["json", "2024-tools", "market"])
def test_a_plugin_s_name_is_a_package_of_its_own(name: str) -> None:
    with pytest.raises(InvalidInput, match="can't be the name of a plugin"):
        new_pack("plugin", name)
