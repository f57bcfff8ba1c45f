"""How packs stand, for people: the table of `market list`, and below it what one word can't say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from market.cli.standing_row import group_lost
from market.cli.text import table_lines
from market.registry.live import SOURCE_PLUGIN

if TYPE_CHECKING:
    from market.cli.standing_row import HostLook


def list_lines(rows: list[dict[str, Any]], looks: tuple[HostLook, ...]) -> list[str]:
    """Return the documents of `market list` as lines."""
    troubles = [f"the host at {look.url} can't be asked: {look.trouble}" for look in looks if look.trouble]
    if not rows:
        return ["nothing is installed", *troubles]
    cells = [(row["name"], row["version"], row["state"], _origin(row), row["path"]) for row in rows]
    return [
        *table_lines(("NAME", "VERSION", "STATE", "FROM", "PATH"), cells),
        *(line for row in rows for line in _remarks(row)),
        *troubles,
    ]


def _origin(row: dict[str, Any]) -> str:
    if row["source"] == SOURCE_PLUGIN:
        return f"environment of {row['host'] or 'this Python'}"
    return str(row["index"] or row["origin"] or "-")


def _remarks(row: dict[str, Any]) -> list[str]:
    """Return what one word can't say: which skills stand otherwise than their pack, pins, newer releases, hosts that lag."""
    name, odd = row["name"], [one for one in row["skills"] if one["state"] not in ("live", row["state"])]
    odd += [one for one in row["skills"] if ":" in one["key"] and one["state"] == row["state"] == "shadowed"]
    return [
        *(f"{name}: {one['key']} is {one['state']}" for one in odd),
        *([f"{name}: pinned to {row['pinned']}"] if row["pinned"] else []),
        *([f"{name}: {row['newer']} is on the index"] if row["newer"] else []),
        *([f"{name}: installed with --no-deps, without {', '.join(row['left_out'])}"] if row["left_out"] else []),
        *(
            [f"{name}: the host at {row['host']} shows {row['host_version'] or 'nothing of it'}"]
            if row["host_version"] is not None
            else []
        ),
        *(f"{name}: {one['text']}" for one in row["lacks"]),
        *(f"{name}: {line}" for line in group_lost((lost["name"], lost["reason"]) for lost in row["not_loaded"])),
        *([f"{name}: {row['trouble']}"] if row["trouble"] else []),
    ]
