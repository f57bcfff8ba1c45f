"""Alembic's entry: runs the migrations on the connection that `index.store.database.migrate` gives."""

from __future__ import annotations

from alembic import context

from index.store.schema import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
with context.begin_transaction():
    context.run_migrations()
