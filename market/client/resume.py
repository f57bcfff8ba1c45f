"""Where a download stands: how much is here, and what proves that the rest belongs to it. The bytes are `transport.py`'s."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, BinaryIO

from market.client import limits

if TYPE_CHECKING:
    from collections.abc import Mapping

_CONTENT_RANGE = re.compile(r"bytes (\d+)-\d+/(\d+|\*)")
PARTIAL = 206


class Resume:
    """One download into a file. What the file holds at first is continued; its caller holds the whole against a digest.

    A part of this download is continued only with a strong validator (RFC 9110, section 13.1.5): the same bytes, not the same
    page. An answer in a content encoding counts other bytes than the file, so that is begun anew.
    """

    def __init__(self, out: BinaryIO, limit_bytes: int) -> None:
        self._out = out
        self._offset = out.seek(0, 2)
        if self._offset >= limit_bytes:
            self._drop()
        self._validator = ""
        self._is_own = False
        self._failures = 0
        self._attempts = 0

    @property
    def headers(self) -> dict[str, str]:
        """What to ask with: for the rest where some is here, else for all."""
        if not self._offset:
            return {}
        condition = {"If-Range": self._validator} if self._validator else {}
        return {"Range": f"bytes={self._offset}-", "Accept-Encoding": "identity", **condition}

    @property
    def delay_seconds(self) -> float:
        """How long to wait before the next attempt."""
        return float(limits.RETRY_DELAY_SECONDS * 2 ** max(self._failures - 1, 0))

    @property
    def is_exhausted(self) -> bool:
        """Whether this was tried often enough, whatever came of it."""
        return self._attempts >= limits.MAX_DOWNLOAD_ATTEMPTS

    def begin(self, status: int, headers: Mapping[str, str]) -> bool:
        """Put the file where an answer's body belongs; False where it belongs nowhere, and all is to be asked for again."""
        self._attempts += 1
        if status == PARTIAL and not self._continues(headers):
            self._drop()
            return False
        if status != PARTIAL:
            self._drop()
        self._out.seek(self._offset)
        self._is_own = True
        self._validator = _strong_validator(headers)
        return True

    def may_go_on(self) -> bool:
        """Whether to try again after a break: while bytes come, or a few times where none do; never where none came at all."""
        here = self._out.tell()
        self._failures = 1 if here > self._offset else self._failures + 1
        self._offset = here
        if self._is_own and not self._validator:
            self._drop()
        return self._is_own and self._failures < limits.MAX_ATTEMPTS and not self.is_exhausted

    def _continues(self, headers: Mapping[str, str]) -> bool:
        match = _CONTENT_RANGE.fullmatch(headers.get("Content-Range", "").strip())
        return match is not None and int(match[1]) == self._offset and not headers.get("Content-Encoding")

    def _drop(self) -> None:
        self._out.seek(0)
        self._out.truncate()
        self._offset = 0


def _strong_validator(headers: Mapping[str, str]) -> str:
    if headers.get("Content-Encoding"):
        return ""
    etag = headers.get("ETag", "")
    return etag if etag.startswith('"') else headers.get("Last-Modified", "") if not etag else ""
