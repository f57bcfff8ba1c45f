"""RECORD of a wheel: complete and true, or the wheel is refused. The standard leaves signatures beside it unlisted.

What lies in `.site` isn't the wheel's: whether it may be there, is `market.pack.wheel_tree`'s to say.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import io
from typing import TYPE_CHECKING

from market.pack.rules import make_problem
from market.pack.wheel_tree import find_dist_info, own_paths

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from market.errors import Problem
    from market.pack.source import Source

MAX_RECORD_BYTES = 4 << 20
# Weaker ones are in the standard's history only.
HASHES = ("sha256", "sha384", "sha512")
UNLISTED = ("RECORD", "RECORD.jws", "RECORD.p7s")


def check_record(source: Source) -> tuple[Problem, ...]:
    """Hold every file of a wheel against its row in RECORD, and every row against its file."""
    sizes = {file.path: file.size for file in source.files()}
    folder = find_dist_info(sizes)
    file = f"{folder}/RECORD"
    if not folder or sizes[file] > MAX_RECORD_BYTES:
        return (make_problem("wheel-record", "there is no RECORD that can be read", file),)
    rows, problems = _parse(source.read(file), file)
    paths = own_paths(sizes)
    unlisted = {f"{folder}/{name}" for name in UNLISTED}
    problems += [
        make_problem("wheel-record", f"{path!r} is not in RECORD", path)
        for path in paths
        if path not in rows and path not in unlisted
    ]
    for path, (digest, size) in rows.items():
        if path not in sizes:
            problems.append(make_problem("wheel-record", f"RECORD names {path!r}, which is not in the wheel", file))
        elif path not in unlisted:
            problems.extend(_check_file(source.read(path), path, digest, size))
    return tuple(problems)


def _parse(data: bytes, file: str) -> tuple[Mapping[str, tuple[str, str]], list[Problem]]:
    rows: dict[str, tuple[str, str]] = {}
    problems: list[Problem] = []
    try:
        lines = list(csv.reader(io.StringIO(data.decode("utf-8")), strict=True))
    except (UnicodeDecodeError, csv.Error) as error:
        return rows, [make_problem("wheel-record", f"RECORD can't be read: {error}", file)]
    for number, row in enumerate(lines, 1):
        if len(row) != 3:
            problems.append(make_problem("wheel-record", f"a row has {len(row)} fields, not 3", file, (number, 1)))
        elif row[0] in rows:
            problems.append(make_problem("wheel-record", f"{row[0]!r} stands twice", file, (number, 1)))
        else:
            rows[row[0]] = row[1], row[2]
    return rows, problems


def _check_file(content: bytes, path: str, digest: str, size: str) -> Iterator[Problem]:
    algorithm, _, encoded = digest.partition("=")
    if algorithm not in HASHES:
        yield make_problem("wheel-record", f"{path!r} has no sha256 in RECORD", path)
        return
    found = base64.urlsafe_b64encode(hashlib.new(algorithm, content).digest()).rstrip(b"=").decode()
    if found != encoded:
        yield make_problem("wheel-record", f"{path!r} isn't what RECORD says: its {algorithm} differs", path)
    if size and size != str(len(content)):
        yield make_problem("wheel-record", f"{path!r} has {len(content)} bytes, RECORD says {size[:20]}", path)
