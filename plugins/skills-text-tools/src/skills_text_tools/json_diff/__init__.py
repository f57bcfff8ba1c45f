"""The skill `json_diff`: what differs between two JSON values. Lists are compared place by place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_DIFFERENCES = 1000


def json_diff(params: dict[str, Any]) -> dict[str, Any]:
    """Return the differences, the first thousand of them, and whether the values are the same."""
    found = list(compare(params["before"], params["after"], ""))
    return {
        "same": not found,
        "count": len(found),
        "differences": found[:MAX_DIFFERENCES],
        "truncated": len(found) > MAX_DIFFERENCES,
    }


def compare(before: Any, after: Any, pointer: str) -> Iterator[dict[str, Any]]:
    """Yield one row for each difference below a JSON pointer."""
    if isinstance(before, dict) and isinstance(after, dict):
        yield from compare_objects(before, after, pointer)
    elif isinstance(before, list) and isinstance(after, list):
        yield from compare_lists(before, after, pointer)
    elif before != after or isinstance(before, bool) != isinstance(after, bool):
        # In Python True equals 1; in JSON it doesn't.
        yield {"path": pointer, "change": "changed", "before": before, "after": after}


def compare_objects(before: dict[str, Any], after: dict[str, Any], pointer: str) -> Iterator[dict[str, Any]]:
    """Compare two objects key by key, in the order of the keys."""
    for key in sorted(before.keys() | after.keys()):
        path = f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}"
        if key not in after:
            yield {"path": path, "change": "removed", "before": before[key]}
        elif key not in before:
            yield {"path": path, "change": "added", "after": after[key]}
        else:
            yield from compare(before[key], after[key], path)


def compare_lists(before: list[Any], after: list[Any], pointer: str) -> Iterator[dict[str, Any]]:
    """Compare two lists place by place; what one of them has more stands at the end."""
    for number in range(max(len(before), len(after))):
        path = f"{pointer}/{number}"
        if number >= len(after):
            yield {"path": path, "change": "removed", "before": before[number]}
        elif number >= len(before):
            yield {"path": path, "change": "added", "after": after[number]}
        else:
            yield from compare(before[number], after[number], path)
