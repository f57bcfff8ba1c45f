"""The index's database: opening it, bringing its schema up to date, and the two kinds of transaction.

The rules of what is written are in `index.publish` and `index.accounts`.
"""

from __future__ import annotations

import sqlite3
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from sqlalchemy import create_engine, event
from sqlalchemy.exc import DBAPIError

from index.settings import DATABASE_TIMEOUT_SECONDS
from market.disk.failures import disk_failures
from market.errors import MarketError, Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sqlalchemy import Connection, Engine

DATABASE_NAME = "index.db"
_MIGRATIONS = Path(__file__).parent / "migrations"
_PRAGMAS = (
    "journal_mode=WAL",
    "synchronous=FULL",
    "foreign_keys=ON",
    f"busy_timeout={int(DATABASE_TIMEOUT_SECONDS * 1000)}",
)
_FAILURES = (
    (("locked", "busy"), "the index's database is busy", "try again in a moment"),
    (("full",), "the index's disk is full", "make room in the index's data folder"),
    (
        ("readonly", "unable to open"),
        "the index's database can't be opened",
        "check the owner and mode of the data folder",
    ),
    (("not a database", "malformed"), "the index's database is damaged", "restore it from a backup"),
)


class Database:
    """One database. Every statement goes through `read` or `write`, whose errors are ours."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Open a transaction that sees one state of the database."""
        with sql_failures(), self.engine.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """Open a transaction that is the only writer from its first statement on; it commits when the block ends well.

        A plain BEGIN takes the lock at the first write only, so that two of them can both look, see nothing and insert.
        """
        with sql_failures(), self.engine.connect() as connection:
            connection = connection.execution_options(market_write=True)
            with connection.begin():
                yield connection

    def close(self) -> None:
        """Close every connection."""
        self.engine.dispose()


def open_database(data: Path) -> Database:
    """Open the database in an index's data folder. The file is created where it is missing; the schema isn't touched."""
    engine = create_engine(
        f"sqlite:///{data / DATABASE_NAME}", connect_args={"timeout": DATABASE_TIMEOUT_SECONDS}, pool_size=4
    )
    event.listen(engine, "connect", _set_up)
    event.listen(engine, "begin", _begin)
    return Database(engine)


def migrate(database: Database, rewrite: Callable[[Connection], None]) -> None:
    """Bring the schema up to date in one transaction; several processes may try at once.

    `rewrite` is called within it where an index of an older version was brought forward: what was derived from the rows is made again.
    """
    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS))
    with database.write() as connection:
        config.attributes["connection"] = connection
        before = _revision(connection)
        command.upgrade(config, "head")
        if before and before != _revision(connection):
            rewrite(connection)


def _revision(connection: Connection) -> str:
    return MigrationContext.configure(connection).get_current_revision() or ""


@contextmanager
def sql_failures() -> Iterator[None]:
    """Turn the driver's errors into ours: no room, no right, a lock held too long. What is left is a fault and stays."""
    try:
        yield
    except DBAPIError as error:
        raise known_failure(error.orig) or error from error
    except sqlite3.Error as error:
        raise known_failure(error) or error from error


def known_failure(error: BaseException | None) -> MarketError | None:
    """Return a driver's error as ours, or None for a fault, which stays what it is."""
    text = str(error)
    found = next(((message, hint) for words, message, hint in _FAILURES if any(word in text for word in words)), None)
    return None if found is None else Unavailable(found[0], why=text, hint=found[1])


def _set_up(connection: Any, _record: object) -> None:
    # The driver's own transactions would start late and unasked; `_begin` starts them.
    connection.isolation_level = None
    for pragma in _PRAGMAS:
        connection.execute(f"PRAGMA {pragma}")


def _begin(connection: Connection) -> None:
    connection.exec_driver_sql("BEGIN IMMEDIATE" if connection.get_execution_options().get("market_write") else "BEGIN")


def make_private(folder: Path) -> None:
    """Create a folder that only this user can enter."""
    with disk_failures("create", folder):
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o700)
