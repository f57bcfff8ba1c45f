"""An index in a temporary folder, called in the test's own process: `an_index(tmp_path)`, `archive(source)`."""

from __future__ import annotations

import io
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from index.accounts import ALL_SCOPES, create_token
from index.app import build_app
from index.parts import Parts, open_parts, prepare_data
from index.screening import load_publishing
from index.settings import Anonymous, IndexSettings
from market.names import parse_publisher_name
from market.pack.archive_write import write_archive
from tests.factories import RUN_SCRIPT, a_skill_json, a_source
from tests.web.asgi import Answer, ask

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from starlette.types import ASGIApp

    from market.pack.source import Source
    from market.plugins.find import PluginEntry

START = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


@dataclass
class Clock:
    """A clock that stands until it is moved."""

    now: datetime = START

    def __call__(self) -> datetime:
        return self.now

    def move(self, **by: float) -> None:
        self.now += timedelta(**by)


@dataclass
class AnIndex:
    """An index with its app, its clock and a publisher's token."""

    parts: Parts
    app: ASGIApp
    clock: Clock
    token: str

    def ask(self, method: str, url: str, *, token: str = "", **options: Any) -> Answer:
        headers = {**options.pop("headers", {}), **({"Authorization": f"Bearer {token}"} if token else {})}
        return ask(self.app, method, url, headers=headers, **options)

    def get(self, url: str, **options: Any) -> Answer:
        return self.ask("GET", url, **options)

    def publish(self, source: Source | None = None, *, name: str = "echo-args", version: str = "1.0.0", token: str = "") -> Answer:
        return self.put(archive(source or a_source()), name=name, version=version, token=token)

    def put(self, body: bytes, *, name: str = "echo-args", version: str = "1.0.0", token: str = "") -> Answer:
        return self.ask("PUT", f"/v1/packs/{name}/{version}", token=token or self.token, body=body)

    def a_token(self, publisher: str, **options: Any) -> str:
        with self.parts.database.write() as connection:
            return create_token(connection, parse_publisher_name(publisher), self.clock.now, **{"scopes": ALL_SCOPES, **options}).secret


@contextmanager
def an_index(
    data: Path, *, anonymous: Anonymous = Anonymous.READ, entry_points: Sequence[PluginEntry] = ()
) -> Iterator[AnIndex]:
    prepare_data(data).close()
    clock = Clock()
    plugins = load_publishing(entry_points)
    parts = open_parts(replace(IndexSettings(data), anonymous=anonymous), plugins, clock)
    index = AnIndex(parts, build_app(parts), clock, "")
    index.token = index.a_token("acme")
    try:
        yield index
    finally:
        parts.close()


def archive(source: Source) -> bytes:
    out = io.BytesIO()
    write_archive(source, out)
    return out.getvalue()


def a_described_source(description: str, **fields: object) -> Source:
    """A good command pack that differs from others by its description."""
    return a_source({"skill.json": a_skill_json(description=description, **fields), "run.sh": RUN_SCRIPT})
