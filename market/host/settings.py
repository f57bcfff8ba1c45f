"""The host's settings: flag, then environment (`MARKET_HOST_*`), then the table `[host]` of config.toml, then default."""

from __future__ import annotations

import tomllib
from dataclasses import asdict, dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from market.disk.failures import disk_failures
from market.errors import InvalidInput
from market.run.limits import CALL_MEMORY_BYTES, MAX_ARGS_BYTES, WORKER_IDLE_SECONDS, WORKER_PROCESSES

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

PREFIX = "MARKET_HOST_"
INTEGRITY_CHOICES = ("hold", "warn")


@dataclass(frozen=True, slots=True)
class HostSettings:
    """Everything that an operator can set. Times in seconds, sizes in bytes.

    `integrity` says what happens to mutating and dangerous skills whose recorded files were changed: `hold` them, or only `warn`.
    `worker_processes` is how many processes one wheel pack gets while its calls overlap, `worker_idle_seconds` how long an unused
    one is kept. `link_targets` are folders into which links in the roots may lead. `load_grace_seconds` bounds how long the start
    waits for the first load, which then goes on beside it. `stop_grace_seconds` is how long running calls may go on when the host is
    asked to stop; then they are cancelled. `call_memory_bytes` is how much data each process of a call may hold, 0 any amount.
    """

    home: str
    roots: tuple[str, ...] = ()
    address: str = "127.0.0.1"
    port: int = 8751
    integrity: str = "hold"
    rescan_seconds: float = 30.0
    load_grace_seconds: float = 20.0
    # With what ending a call takes, below the 10 s after which `docker stop` kills.
    stop_grace_seconds: float = 5.0
    execution_threads: int = 16
    worker_processes: int = WORKER_PROCESSES
    worker_idle_seconds: float = WORKER_IDLE_SECONDS
    call_memory_bytes: int = CALL_MEMORY_BYTES
    # A call's arguments come in one body: whoever may run a skill here may pass it as much as the command line does.
    max_body_bytes: int = MAX_ARGS_BYTES
    max_upload_bytes: int = 64 << 20
    log_level: str = "INFO"
    skipped_roots: tuple[str, ...] = ()
    link_targets: tuple[str, ...] = ()
    login_hash: str = ""


POSITIVE = (
    *("rescan_seconds", "load_grace_seconds", "execution_threads", "worker_processes", "worker_idle_seconds"),
    *("max_body_bytes", "max_upload_bytes"),
)
NOT_NEGATIVE = ("stop_grace_seconds", "call_memory_bytes")
NOT_FROM_OUTSIDE = frozenset({"home", "roots", "skipped_roots", "link_targets", "login_hash"})


def load_host_settings(home: str, config: Path, environ: Mapping[str, str], flags: Mapping[str, Any]) -> HostSettings:
    """Read all sources; flags that are None count as not given. Raises `InvalidInput` naming the setting and where it stands."""
    settings = HostSettings(home)
    settings = _with(settings, _read_table(config), str(config))
    from_environment = {
        field.name: environ[PREFIX + field.name.upper()]
        for field in fields(HostSettings)
        if environ.get(PREFIX + field.name.upper())
    }
    settings = _with(settings, from_environment, "the environment")
    settings = replace(settings, **{name: value for name, value in flags.items() if value is not None})
    return _checked(settings)


def dump_settings(settings: HostSettings) -> dict[str, object]:
    """Return the settings as JSON values, for the process that runs the app."""
    return asdict(settings)


def parse_settings(values: Mapping[str, Any]) -> HostSettings:
    """Read what `dump_settings` made."""
    lists = {name: tuple(values[name]) for name in ("roots", "skipped_roots", "link_targets")}
    return HostSettings(**{**values, **lists})


def _with(settings: HostSettings, values: Mapping[str, Any], where: str) -> HostSettings:
    known = {field.name for field in fields(HostSettings)} - NOT_FROM_OUTSIDE
    changes = {
        name: _convert(name, value, type(getattr(settings, name)), where)
        for name, value in values.items()
        if name in known
    }
    return replace(settings, **changes)


def _convert(name: str, value: Any, kind: type, where: str) -> Any:
    try:
        if isinstance(value, bool) or not isinstance(value, (str, int, float)):
            raise ValueError(f"{value!r} is not {kind.__name__}")
        return kind(value)
    except ValueError as error:
        raise InvalidInput(
            f"the setting {name} in {where} can't be read", why=str(error), hint=f"write it as {kind.__name__}"
        ) from None


def _read_table(config: Path) -> Mapping[str, Any]:
    with disk_failures("read", config):
        if not config.exists():
            return {}
        text = config.read_text(encoding="utf-8")
    try:
        table = tomllib.loads(text).get("host", {})
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput(f"{config} is not TOML", why=str(error), hint="correct that line") from None
    if not isinstance(table, dict):
        raise InvalidInput(f"{config}: 'host' is not a table", hint="write [host]")
    unknown = set(table) - {field.name for field in fields(HostSettings)} | set(table) & NOT_FROM_OUTSIDE
    if unknown:
        raise InvalidInput(f"{config}: [host] has no setting {', '.join(sorted(unknown))}")
    return table


def _checked(settings: HostSettings) -> HostSettings:
    if settings.integrity not in INTEGRITY_CHOICES:
        raise InvalidInput(f"integrity is {settings.integrity!r}", hint=f"one of {', '.join(INTEGRITY_CHOICES)}")
    for name in NOT_NEGATIVE:
        if getattr(settings, name) < 0:
            raise InvalidInput(f"{name} is {getattr(settings, name)}", why="it must not be below 0")
    for name in POSITIVE:
        if getattr(settings, name) <= 0:
            raise InvalidInput(f"{name} is {getattr(settings, name)}", why="it must be above 0")
    if not 0 <= settings.port <= 65535:
        raise InvalidInput(f"port is {settings.port}", why="ports go from 0 to 65535; 0 picks a free one")
    return settings
