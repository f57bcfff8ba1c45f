"""What is made durable before what: the order that power loss depends on, read from the calls themselves."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from market.disk import atomic, exchange
from tests.installer.builders import an_arrival, install

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

    from market.installer.root import Root


class Trace:
    """The calls that write, as `NAME PLACE` with the place below the root."""

    def __init__(self, root: Root) -> None:
        self.root = root
        self.calls: list[str] = []

    def place(self, argument: Any, directory: int | None = None) -> str:
        if isinstance(argument, int):
            path = os.readlink(f"/proc/self/fd/{argument}")
        elif directory is not None:
            path = f"{os.readlink(f'/proc/self/fd/{directory}')}/{argument}"
        else:
            path = os.fsdecode(argument)
        parts = Path(os.path.relpath(path, self.root.path)).parts
        return "/".join("ID" if len(part) >= 16 and part[:16].isalnum() else part for part in parts) or "."

    def wrap(self, name: str, call: Callable[..., Any], subject: int = 0) -> Callable[..., Any]:
        def traced(*arguments: Any, **options: Any) -> Any:
            self.calls.append(f"{name} {self.place(arguments[subject], options.get('dir_fd'))}")
            return call(*arguments, **options)

        return traced


def trace_install(root: Root, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    trace = Trace(root)
    syncfs, renameat2 = atomic._find_syncfs(), exchange._find_renameat2()
    assert syncfs is not None
    assert renameat2 is not None
    new = an_arrival(version="2.0.0")
    with monkeypatch.context() as patch:
        for name, subject in (("write", 0), ("fsync", 0), ("replace", 1), ("unlink", 0), ("fchmod", 0), ("utime", 0)):
            patch.setattr(os, name, trace.wrap(name, getattr(os, name), subject))
        patch.setattr(atomic, "_find_syncfs", lambda: trace.wrap("syncfs", syncfs))
        patch.setattr(exchange, "_find_renameat2", lambda: trace.wrap("renameat2", renameat2, 3))
        install(root, new)
    return trace.calls


def test_each_step_is_durable_before_the_next(root: Root, monkeypatch: pytest.MonkeyPatch) -> None:
    install(root, an_arrival())
    calls = trace_install(root, monkeypatch)
    synced = calls.index("syncfs .market/staging/ID")
    assert not [
        call for call in calls[:synced] if not call.split()[-1].startswith((".market/staging/ID", ".market/lock"))
    ]
    assert "write .market/staging/ID/.intent.json" in calls[:synced]
    assert calls[synced + 1 : synced + 10] == [
        "replace .market/intents/ID",
        "fsync .market/intents",
        "renameat2 echo-args",
        "fsync .",
        "fsync .market/staging/ID",
        "replace .market/archives/ID",
        "replace .market/receipts/echo-args.json",
        "fsync .market/receipts",
        "unlink .market/intents/ID",
    ]
    assert {call.split()[0] for call in calls[synced + 10 :]} == {"unlink"}
