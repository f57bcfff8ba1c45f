"""What a wheel's Python code depends on: whether it may be fetched here, and fetching it with `uv pip install --target`.

Which index is asked is uv's own configuration (or pip's variables). Only built wheels are taken: nothing of a dependency runs here.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from market.disk.failures import disk_failures
from market.disk.remove import remove_tree
from market.errors import InvalidInput, Refused, Unavailable
from market.installer.uv_reasons import explain_uv
from market.model import SkillClass

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from market.model import Pack

FORBID_VARIABLE = "MARKET_FORBID_DEPENDENCIES"
FETCH_SECONDS = 300.0
MAX_SAID_CHARACTERS = 4000
ALL_CLASSES = "all"

# uv reads none of pip's variables; somebody who has set only these means the same.
_AS_UV = {
    "PIP_INDEX_URL": "UV_DEFAULT_INDEX",
    "PIP_EXTRA_INDEX_URL": "UV_INDEX",
    "PIP_FIND_LINKS": "UV_FIND_LINKS",
    "PIP_CERT": "SSL_CERT_FILE",
}
_UV_INDEXES = ("UV_DEFAULT_INDEX", "UV_INDEX", "UV_INDEX_URL", "UV_EXTRA_INDEX_URL", "UV_FIND_LINKS", "UV_CONFIG_FILE")
# What uv leaves beside the packages: its lock, and programs that start with the path of this interpreter.
_NOT_PART = (".lock", "bin")


@dataclass(frozen=True, slots=True)
class DependencyTerms:
    """How Python dependencies are treated. Without `fetch` they are left out; a pack of a class in `forbidden_for` may have none."""

    environ: Mapping[str, str] = field(default_factory=dict)
    fetch: bool = True
    forbidden_for: frozenset[SkillClass] = frozenset()


def make_dependency_terms(environ: Mapping[str, str], *, fetch: bool = True) -> DependencyTerms:
    """Return the terms of the environment. `MARKET_FORBID_DEPENDENCIES` lists classes, separated by commas, or says `all`."""
    words = [word.strip().lower() for word in environ.get(FORBID_VARIABLE, "").split(",") if word.strip()]
    try:
        classes = frozenset(SkillClass) if ALL_CLASSES in words else frozenset(SkillClass(word) for word in words)
    except ValueError:
        raise InvalidInput(
            f"{FORBID_VARIABLE} is {environ[FORBID_VARIABLE]!r}", hint="list safe, mutating, dangerous, or write all"
        ) from None
    return DependencyTerms(environ, fetch, classes)


def check_allowed(pack: Pack, requires: Sequence[str], terms: DependencyTerms) -> None:
    """Raise `Refused` where a pack has dependencies that its classes may not have here."""
    classes = sorted({skill.skill_class for skill in pack.skills} & terms.forbidden_for)
    if requires and classes:
        raise Refused(
            f"{pack.name} depends on {', '.join(requires)}",
            why=f"this operator forbids dependencies of packs with {' and '.join(classes)} skills ({FORBID_VARIABLE})",
            hint="ask for a pack without dependencies",
        )


def fetch_dependencies(name: str, requires: Sequence[str], folder: Path, terms: DependencyTerms) -> None:
    """Fetch what a pack's code depends on into an existing folder, with all that these depend on in turn.

    Raises as `explain_uv`, naming the pack; the folder may hold a part of it then.
    """
    program = find_uv(terms.environ)
    command = [program, "pip", "install", "--target", str(folder), "--python", sys.executable, "--only-binary", ":all:"]
    command += ["--link-mode", "copy", "--no-progress", "--quiet", "--no-python-downloads", "--requirements", "-"]
    try:
        done = subprocess.run(
            command,
            input="\n".join(requires),
            env=_environment(terms.environ),
            capture_output=True,
            text=True,
            timeout=FETCH_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise explain_uv(name, requires, f"it took more than {FETCH_SECONDS:g} s") from None
    except OSError as error:
        raise Unavailable("uv can't be started", why=f"{program}: {error.strerror}") from None
    if done.returncode:
        raise explain_uv(name, requires, _last_words(done.stderr))
    with disk_failures("write", folder):
        for left in _NOT_PART:
            path = folder / left
            if path.is_dir():
                remove_tree(path)
            else:
                path.unlink(missing_ok=True)


def find_uv(environ: Mapping[str, str]) -> str:
    """Return the path of the program uv: the one beside this Python, else the one on PATH."""
    beside = Path(sys.executable).with_name("uv")
    found = str(beside) if beside.is_file() else shutil.which("uv", path=environ.get("PATH", os.defpath))
    if found is None:
        raise Unavailable(
            "uv is missing, which fetches what a wheel pack depends on",
            hint="pip install 'skill-market[plugins]', or install with --no-deps",
        )
    return found


def _environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return uv's environment: this one without Market's own secrets, with pip's settings where uv has none."""
    kept = {key: value for key, value in environ.items() if not key.startswith("MARKET_")}
    if not any(kept.get(key) for key in _UV_INDEXES):
        kept |= {uv: kept[pip] for pip, uv in _AS_UV.items() if kept.get(pip) and not kept.get(uv)}
    return kept


def _last_words(text: str) -> str:
    words = " ".join(line.strip() for line in text.splitlines() if line.strip())
    return words[-MAX_SAID_CHARACTERS:] or "uv gives no reason"
