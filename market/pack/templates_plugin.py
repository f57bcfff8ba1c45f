"""The first files of a new plugin pack: a project that builds a wheel, with one python skill and a test of its own."""

from __future__ import annotations

import sys

from market.errors import InvalidInput
from market.names import parse_pack_name
from market.pack.host_modules import HOST_MODULES

_PYPROJECT = """[build-system]
requires = ["hatchling>=1.27"]
build-backend = "hatchling.build"

[project]
name = "{name}"
version = "0.1.0"
description = "Says in one sentence what these skills are for."
readme = "README.md"
requires-python = ">=3.11"
dependencies = ["pluggy>=1.5"]

[project.entry-points."market.skills"]
{name} = "{package}.plugin"

[dependency-groups]
dev = ["mypy>=1.14", "pytest>=8.3", "ruff>=0.9"]

[tool.hatch.build.targets.wheel]
packages = ["src/{package}"]

[tool.pytest.ini_options]
pythonpath = ["src"]
testpaths = ["tests"]

[tool.mypy]
strict = true
files = ["src", "tests"]
mypy_path = "src"
explicit_package_bases = true
"""

_IGNORED = """.venv/
__pycache__/
.*_cache/
dist/
"""

_README = """# {name}

Skills for Market, as a Python package. Each folder with a skill.json or a SKILL.md in `src/{package}` is a skill; `plugin.py` names
these folders.

Market and uv come with `pip install 'skill-market[plugins]'`, in an environment that isn't this project's. Then, here:

    uv run pytest                   # makes .venv with the group "dev" of pyproject.toml, and runs the tests
    uv run ruff check
    uv run mypy
    uv build --wheel                # dist/{package}-0.1.0-py3-none-any.whl
    market check dist/*.whl         # starts the code and compares it with what the files declare
    market install dist/*.whl
    market run greet --args '{{"name": "Ada"}}'

Without uv: `pip install --editable . --group dev` (pip 25.1 or newer) in an environment of the project's own, then `pytest`.
"""

_PLUGIN = '''"""What this package adds to Market. The skills themselves are declared by the files in their folders."""

from __future__ import annotations

import pluggy

hookimpl = pluggy.HookimplMarker("market")


@hookimpl
def market_skills() -> list[str]:
    """Return the folders with skills, seen from this file."""
    return ["greet"]
'''

_SKILL = """{{
  "name": "greet",
  "description": "Greets somebody. Use when a greeting is asked for.",
  "class": "safe",
  "category": "external",
  "entry": "python:{package}.greet:greet",
  "timeout_seconds": 30,
  "schema": {{
    "type": "object",
    "properties": {{
      "name": {{"type": "string", "description": "Whom to greet.", "default": "world"}}
    }}
  }}
}}
"""

_CODE = '''"""The skill `greet`: a function of the arguments that returns what JSON can say. Prints go to the log of the call."""

from __future__ import annotations


def greet(params: dict[str, str]) -> dict[str, str]:
    """Greet somebody by name."""
    print("greeting")
    return {"greeting": f"Hello, {params.get('name', 'world')}!"}
'''

_TEST = '''"""What the files declare is there, and does what it says."""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import {package}
from {package}.plugin import market_skills

TOP = Path({package}.__file__).parent


def test_every_folder_with_a_skill_is_named() -> None:
    manifests = [*TOP.rglob("skill.json"), *TOP.rglob("SKILL.md")]
    assert set(market_skills()) == {{str(path.parent.relative_to(TOP)) for path in manifests}}


def test_every_entry_is_a_function() -> None:
    for path in TOP.rglob("skill.json"):
        _, module, function = json.loads(path.read_text())["entry"].split(":")
        assert callable(getattr(importlib.import_module(module), function))


def test_greet() -> None:
    from {package}.greet import greet

    assert greet({{"name": "Ada"}}) == {{"greeting": "Hello, Ada!"}}
    assert greet({{}}) == {{"greeting": "Hello, world!"}}
'''


def new_plugin(name: str) -> dict[str, tuple[bytes, bool]]:
    """Return the files of a new plugin pack as path -> (bytes, executable); raises `InvalidInput` for a name that can't be a package."""
    pack_name = parse_pack_name(name)
    package = pack_name.replace("-", "_")
    if not package.isidentifier() or package in sys.stdlib_module_names or package in HOST_MODULES:
        raise InvalidInput(
            f"{pack_name!r} can't be the name of a plugin",
            why=f"its package would be {package!r}, which "
            + ("is taken" if package.isidentifier() else "is no name in Python"),
            hint=f"for example 'my-{pack_name}'",
        )
    texts = {
        "pyproject.toml": _PYPROJECT,
        ".gitignore": _IGNORED,
        "README.md": _README,
        f"src/{package}/__init__.py": f'"""Skills of {pack_name}."""\n',
        f"src/{package}/plugin.py": _PLUGIN,
        f"src/{package}/greet/__init__.py": _CODE,
        f"src/{package}/greet/skill.json": _SKILL,
        "tests/test_skills.py": _TEST,
    }
    plain = (_PLUGIN, _CODE)
    filled = {
        path: text if text in plain else text.format(name=pack_name, package=package) for path, text in texts.items()
    }
    return {path: (text.encode(), False) for path, text in filled.items()}
