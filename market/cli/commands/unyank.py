"""`market unyank`: see `market.cli.commands.yank`, which has both."""

from __future__ import annotations

from market.cli.commands.yank import unyank as unyank
