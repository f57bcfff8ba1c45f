"""The command line in this process: a home, an index in memory, and one call that returns exit code, stdout and stderr."""

from __future__ import annotations

import contextlib
import io
import json
import sys
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from market.cli.main import run
from market.cli.market import Market
from market.disk.home import Home
from tests.factories import RUN_SCRIPT, a_skill_json
from tests.fake_index import TOKEN, URL, FakeIndex

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import pytest

    from market.plugins.find import PluginEntry

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


@dataclass(frozen=True)
class Ran:
    """A command that ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def error(self) -> Any:
        return self.json["error"]


@dataclass
class Shell:
    """Runs `market ARGUMENTS` in `folder`. The index is in memory; there is no terminal."""

    folder: Path
    monkeypatch: pytest.MonkeyPatch
    index: FakeIndex = field(default_factory=FakeIndex)
    environ: dict[str, str] = field(default_factory=dict)
    plugins: tuple[PluginEntry, ...] = ()

    @property
    def home(self) -> Home:
        return Home(self.folder / "home")

    @property
    def root(self) -> Path:
        return self.home.skills

    def __call__(self, *arguments: object, expect: int | None = 0, stdin: bytes = b"") -> Ran:
        environ = {"PATH": "/usr/bin:/bin", "MARKET_INDEX_URL": URL, "MARKET_TOKEN": TOKEN, **self.environ}
        market = Market(self.home, environ, index_transport=self.index, now=lambda: NOW, plugin_entries=self.plugins)
        self.monkeypatch.chdir(self.folder)
        self.monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = run([str(argument) for argument in arguments], obj=market)
        ran = Ran(code, out.getvalue(), err.getvalue())
        assert "Traceback" not in ran.out + ran.err
        assert expect is None or code == expect, f"market {arguments} ended with {code}\n{ran.out}\n{ran.err}"
        return ran

    def pack(self, name: str = "my-pack", files: Mapping[str, bytes] | None = None, **fields: object) -> Path:
        """Write a good command pack `NAME` of one skill, or these files. The field `class` is written `skill_class`."""
        fields = {("class" if field == "skill_class" else field): value for field, value in fields.items()}
        folder = self.folder / name
        key = name.replace("-", "_")
        contents = (
            files if files is not None else {"skill.json": a_skill_json(name=key, **fields), "run.sh": RUN_SCRIPT}
        )
        for path, content in contents.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(content)
            (folder / path).chmod(0o755 if content.startswith(b"#!") else 0o644)
        return folder

    def everything(self) -> dict[str, bytes]:
        """Every file below the folder with its content: for "nothing is left behind"."""
        return {
            str(path.relative_to(self.folder)): path.read_bytes()
            for path in sorted(self.folder.rglob("*"))
            if path.is_file() and path.name != "audit.db" and not path.name.startswith("audit.db-")
        }
