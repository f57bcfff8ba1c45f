"""The index's settings as one value. Flags stand over `MARKET_INDEX_SERVER_*`, which stand over the defaults.

Every limit of the index's own is a named number here; those of archives and packs are in `market.pack`.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from market.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Mapping

DEFAULT_PORT = 8750
DEFAULT_LIST_ITEMS = 50
MAX_LIST_ITEMS = 200
MAX_QUERY_CHARACTERS = 200
MAX_QUERY_TERMS = 12
MAX_SEARCH_MATCHES = 2_000
MAX_NEAR_CANDIDATES = 500
MAX_NEAR_NAMES = 3
MAX_PORT = 65_535
MAX_WORKERS = 64
DATABASE_TIMEOUT_SECONDS = 15.0
LAST_USED_STEP_SECONDS = 300

_PREFIX = "MARKET_INDEX_SERVER_"


class Anonymous(StrEnum):
    """What callers without a token may do."""

    READ = "read"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class IndexSettings:
    """Where the index keeps everything (`data`), where it listens, and who may read without a token.

    Port 0 picks a free one. `workers` is the number of processes that answer.
    """

    data: Path
    host: str = "127.0.0.1"
    port: int = DEFAULT_PORT
    anonymous: Anonymous = Anonymous.READ
    workers: int = 1
    log_level: str = "INFO"

    def dump(self) -> dict[str, Any]:
        """Return the settings as JSON values, for the child processes."""
        return {**asdict(self), "data": str(self.data)}


def parse_settings(values: Mapping[str, Any]) -> IndexSettings:
    """Return the settings that `dump` gave."""
    return IndexSettings(**{**values, "data": Path(values["data"]), "anonymous": Anonymous(values["anonymous"])})


def load_settings(environ: Mapping[str, str], default_data: Path, **flags: Any) -> tuple[IndexSettings, bool]:
    """Combine flags (None means not given), environment and defaults; also return whether `anonymous` was given at all."""
    given = {name: environ[_PREFIX + name.upper()] for name in _READERS if environ.get(_PREFIX + name.upper())}
    given |= {name: value for name, value in flags.items() if value is not None}
    values = {name: _read(name, value) for name, value in given.items()}
    settings = replace(IndexSettings(data=default_data), **values)
    return replace(settings, data=settings.data.expanduser().absolute()), "anonymous" in values


def _read(name: str, value: Any) -> Any:
    try:
        return _READERS[name](value)
    except (ValueError, KeyError):
        raise InvalidInput(
            f"{value!r} is no value for the index's {name.replace('_', ' ')}",
            hint=f"correct --{name} or {_PREFIX}{name.upper()}",
        ) from None


def _read_number(lowest: int, highest: int) -> Any:
    def read(value: Any) -> int:
        number = int(value)
        if not lowest <= number <= highest:
            raise ValueError(value)
        return number

    return read


def _read_level(value: str) -> str:
    return {"debug": "DEBUG", "info": "INFO", "warning": "WARNING", "error": "ERROR"}[value.lower()]


_READERS: dict[str, Any] = {
    "data": Path,
    "host": str,
    "port": _read_number(0, MAX_PORT),
    "anonymous": Anonymous,
    "workers": _read_number(1, MAX_WORKERS),
    "log_level": _read_level,
}
