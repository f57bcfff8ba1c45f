"""The parts that an index is made of, as one value that the routes get. They are put together in `index.app`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from index.commit import Deed
from index.store.blobs import FolderBlobs
from index.store.database import make_private, migrate, open_database
from index.store.inline import InlineReader
from index.store.lanes import Lanes
from index.store.written import rewrite_documents

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from index.model import Account
    from index.settings import IndexSettings
    from index.store.database import Database
    from market.pack.secrets import Place
    from market.plugins.loaded import Plugins

BLOBS_FOLDER = "blobs"


def utc_now() -> datetime:
    """Return the time."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Parts:
    """What the routes of every face share."""

    settings: IndexSettings
    database: Database
    blobs: FolderBlobs
    reader: InlineReader
    lanes: Lanes
    clock: Callable[[], datetime]
    plugins: Plugins

    def deed(self, account: Account, allowed_secrets: frozenset[Place] = frozenset()) -> Deed:
        """Return what somebody is about to do, as done now."""
        return Deed(account, self.clock(), self.plugins, allowed_secrets)

    def close(self) -> None:
        """Close what is open."""
        self.reader.close()
        self.database.close()


def open_parts(settings: IndexSettings, plugins: Plugins, clock: Callable[[], datetime] = utc_now) -> Parts:
    """Open an index's data folder, which `prepare_data` must have made."""
    return Parts(
        settings=settings,
        database=open_database(settings.data),
        blobs=FolderBlobs(settings.data / BLOBS_FOLDER),
        reader=InlineReader(settings.data),
        lanes=Lanes(),
        clock=clock,
        plugins=plugins,
    )


def prepare_data(data: Path) -> Database:
    """Make the data folder where it is missing, bring its schema up to date, and return its database. Safe to do again and at once."""
    make_private(data)
    blobs = FolderBlobs(data / BLOBS_FOLDER)
    blobs.create()
    blobs.sweep(utc_now())
    database = open_database(data)
    migrate(database, rewrite_documents)
    return database
