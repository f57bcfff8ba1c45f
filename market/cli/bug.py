"""A fault of ours, told to the reader: a sentence and the file with the traceback. Loaded only when there is one."""

from __future__ import annotations

import sys
import tempfile
import traceback

from market.errors import MarketError


class Bug(MarketError):
    """A fault of ours; outside the table of exit codes, so it ends with `report.BUG`."""

    slug = "bug"


def bug_error(error: BaseException) -> Bug:
    """Write the traceback into a file and return the sentence that names it. Arguments may hold a token, so only the command is written."""
    text = "".join(traceback.format_exception(error))
    try:
        with tempfile.NamedTemporaryFile(
            "w", prefix="market-bug-", suffix=".log", delete=False, encoding="utf-8", errors="backslashreplace"
        ) as log:
            log.write(f"market {' '.join(sys.argv[1:2])}\n{text}")
        place = f"the details are in {log.name}"
    except OSError as failure:
        place = f"the details can't be written: {failure.strerror}"
    return Bug(f"a bug in market: {type(error).__name__}", why=place, hint="please report it, with that file")
