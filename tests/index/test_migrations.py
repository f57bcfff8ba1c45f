"""Indexes that older versions made: each step keeps what was there."""

from __future__ import annotations

import json
import sqlite3
from typing import TYPE_CHECKING

from alembic import command
from alembic.config import Config
from sqlalchemy import select

from index.parts import prepare_data
from index.store import database as database_module
from index.store.database import DATABASE_NAME, open_database
from index.store.releases import find_file
from index.store.schema import files, releases

if TYPE_CHECKING:
    from pathlib import Path

ROWS = """
INSERT INTO publishers VALUES (1, 'acme', 't0');
INSERT INTO tokens VALUES (1, 1, 'hash', 'skm_abc', '', 'publish', 't0', '', '', '');
INSERT INTO packs (id, name, publisher_id, latest, summary, updated_at, skills) VALUES (1, 'disk-cleaner', 1, '1.0', 'Cleans.', 't1', 1);
INSERT INTO releases (id, pack_id, version, canonical_version, state, yanked_reason, published_at, token_id, tree_digest, requires, needs, manifest)
VALUES (1, 1, '1.0', '1', 'live', '', 't1', 1, 'sha256:aa', '["x"]', '{}', '{"kind": "command", "summary": "Cleans.", "skills": [], "record": [], "keywords": [], "categories": []}');
INSERT INTO files VALUES (1, 1, 'archive', 'sha256:bb', 17);
INSERT INTO documents VALUES ('/v1/packs/disk-cleaner/index.json', '"e"', x'7b7d');
"""


def an_old_index(data: Path, revision: str) -> None:
    database = open_database(data)
    config = Config()
    config.set_main_option("script_location", str(database_module._MIGRATIONS))
    with database.write() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, revision)
    database.close()


def test_first_archives_become_files_of_their_releases(tmp_path: Path) -> None:
    an_old_index(tmp_path, "0001")
    with sqlite3.connect(tmp_path / DATABASE_NAME) as connection:
        connection.executescript(ROWS)
    connection.close()
    database = prepare_data(tmp_path)
    with database.read() as read:
        found = find_file(read, "disk-cleaner-1.0.zip")
        row = read.execute(select(files)).mappings().one()
        assert read.execute(select(releases.c.version, releases.c.published_at)).one() == ("1.0", "t1")
        bodies = read.exec_driver_sql("SELECT body FROM documents ORDER BY path").scalars().all()
        release, pack = (json.loads(body) for body in bodies)
        assert read.exec_driver_sql("PRAGMA foreign_key_check").all() == []
    database.close()
    assert found is not None
    assert (found.version, found.digest, found.tree_digest) == ("1.0", "sha256:bb", "sha256:aa")
    assert (row["uploaded_at"], row["requires"], json.loads(row["manifest"])["kind"]) == ("t1", '["x"]', "command")
    assert (row["size"], row["requires_python"], row["metadata_digest"]) == (17, "", "")
    # The documents are those that today's code writes.
    assert (pack["latest"], pack["updated_at"], release["files"][0]["filename"]) == ("1.0", "t1", "disk-cleaner-1.0.zip")
