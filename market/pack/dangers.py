"""What is suspicious in a pack's files, by rules that need nothing else: secrets, hidden text, downloads that are run unseen.

The author sees it in a review, the index when a release is made, and whoever installs the pack: one verdict.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from market.pack.secrets import MAX_SCANNED_BYTES, find_secrets
from market.pack.unseen import find_unseen
from market.pack.wheel_tree import SITE_FOLDER

if TYPE_CHECKING:
    from collections.abc import Iterator

    from market.errors import Problem
    from market.pack.source import Source


def find_dangers(source: Source) -> Iterator[Problem]:
    """Yield what is suspicious in any file that the author wrote, in the order of the files. Of each, 16 MiB are looked into."""
    for file in source.files():
        # What was fetched for a wheel is other people's, of any size, and was checked by its hash.
        if file.size and not file.path.startswith(f"{SITE_FOLDER}/"):
            with source.open(file.path) as stream:
                yield from find_dangers_in(stream.read(MAX_SCANNED_BYTES), file.path)


def find_dangers_in(data: bytes, file: str) -> Iterator[Problem]:
    """Yield what is suspicious in one file."""
    yield from find_secrets(data, file)
    yield from find_unseen(data, file)
