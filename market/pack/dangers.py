"""What is suspicious in a pack's files, by rules that need nothing else: secrets, hidden text, downloads that are run unseen.

The author sees it in a review, the index when a release is made, and whoever installs the pack: one verdict.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from market.pack.rules import make_problem
from market.pack.scan_limits import MAX_PACK_TRIES, MAX_SCANNED_BYTES, ScanBudget
from market.pack.secrets import find_secrets
from market.pack.unseen import find_unseen
from market.pack.wheel_tree import SITE_FOLDER

if TYPE_CHECKING:
    from collections.abc import Iterator

    from market.errors import Problem
    from market.pack.source import Source, SourceFile


def find_dangers(source: Source, *, with_secrets: bool = True) -> Iterator[Problem]:
    """Yield what is suspicious in any file that the author wrote, in the order of the files, and what wasn't looked into."""
    budget, unread = ScanBudget(), []
    for file in source.files():
        # What lies beside a wheel is other people's, of any size, and was checked by its hash where it was fetched.
        if not file.size or file.path.startswith(f"{SITE_FOLDER}/"):
            continue
        if budget.bytes <= 0:
            unread.append(file.path)
            continue
        with source.open(file.path) as stream:
            data = stream.read(min(MAX_SCANNED_BYTES, budget.bytes))
        budget.bytes -= len(data)
        was_over = budget.tries < 0
        yield from find_dangers_in(data, file.path, budget, with_secrets=with_secrets)
        yield from _tell_rest(file, len(data), is_over=budget.tries < 0 and not was_over)
    if unread:
        text = f"the pack has more to look into than one may have: {len(unread):,} files from {unread[0]!r} on were left out"
        yield make_problem("scan-limit", text, unread[0])


def find_dangers_in(
    data: bytes, file: str, budget: ScanBudget | None = None, *, with_secrets: bool = True
) -> Iterator[Problem]:
    """Yield what is suspicious in one file, and take from the pack's budget what it cost."""
    budget = budget or ScanBudget()
    if with_secrets:
        yield from find_secrets(data, file, budget)
    yield from find_unseen(data, file, budget)


def _tell_rest(file: SourceFile, read: int, *, is_over: bool) -> Iterator[Problem]:
    if file.size > read:
        text = f"of its {file.size:,} bytes the first {read:,} were looked into"
        yield make_problem("scan-limit", text, file.path)
    if is_over:
        text = f"more than {MAX_PACK_TRIES:,} places look like tokens or downloads: from here on they aren't looked for"
        yield make_problem("scan-limit", text, file.path)
