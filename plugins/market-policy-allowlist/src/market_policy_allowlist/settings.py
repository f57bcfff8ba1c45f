"""The operator's list as a TOML file. It is read again when it changes; what can't be read allows nothing."""

from __future__ import annotations

import tomllib
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from market.disk.failures import disk_failures
from market.disk.home import load_home
from market.errors import InvalidInput
from market.model import SkillClass
from market_policy_allowlist.policy import AllowList

if TYPE_CHECKING:
    from collections.abc import Mapping

VARIABLE = "MARKET_POLICY_ALLOWLIST"
FILE_NAME = "policy-allowlist.toml"
ACTS = ("install", "run")
CONDITIONS = ("packs", "publishers", "classes")
KEPT_POLICIES = 8


def policy_path(environ: Mapping[str, str]) -> Path:
    """Return where the list stands: the file that the variable names, or the one in MARKET_HOME."""
    named = environ.get(VARIABLE, "")
    return Path(named) if named else load_home(environ).path / FILE_NAME


def load_policy(path: Path) -> Mapping[str, AllowList]:
    """Return the lists by act. Raises `NotFound` without a file and `InvalidInput` for one that can't be read as what it is."""
    with disk_failures("read", path):
        status = path.stat()
    return _load(path, (status.st_dev, status.st_ino, status.st_mtime_ns, status.st_size))


@lru_cache(KEPT_POLICIES)
def _load(path: Path, _mark: tuple[int, ...]) -> Mapping[str, AllowList]:
    with disk_failures("read", path):
        content = path.read_bytes()
    try:
        tables = tomllib.loads(content.decode())
    except ValueError as error:
        raise InvalidInput(f"{path} can't be read", why=str(error)) from None
    if unknown := set(tables) - set(ACTS):
        raise InvalidInput(f"{path} has no table {', '.join(sorted(unknown))}", hint=f"there are {', '.join(ACTS)}")
    return {act: _parse(table, f"{path}, [{act}]") for act, table in tables.items()}


def _parse(table: Any, where: str) -> AllowList:
    if not isinstance(table, dict) or set(table) - set(CONDITIONS):
        raise InvalidInput(f"{where} can't be read", hint=f"a table may have {', '.join(CONDITIONS)}")
    for name, patterns in table.items():
        if not isinstance(patterns, list) or not all(isinstance(pattern, str) for pattern in patterns):
            raise InvalidInput(f"{where}: {name} is not a list of texts")
    classes = table.get("classes")
    if classes is not None and (unknown := set(classes) - {str(one) for one in SkillClass}):
        raise InvalidInput(
            f"{where}: there is no class {', '.join(sorted(unknown))}", hint=f"there are {', '.join(SkillClass)}"
        )
    return AllowList(**{name: tuple(patterns) for name, patterns in table.items()})
