"""Every hazard with what it does to us and to others: `python -m tests.pack.hazards` tries the tools of this machine and writes `hazards.json`.

Other programs are run in a throw-away folder only, on content that harms nobody; what they write outside their destination is seen there.
"""

from __future__ import annotations

import io
import json
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
import warnings
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from market.errors import Untrusted
from market.pack.importer import import_archive
from market.pack.record import make_record
from tests.pack.hostile import HOSTILE
from tests.pack.hostile_tar import FOREIGN_ZIPS, TARS

if TYPE_CHECKING:
    from collections.abc import Callable

TABLE = Path(__file__).with_name("hazards.json")
IMPORTS = "imports"
# Only ours is asked about what is large: the others would fill the disk.
TOO_LARGE = 4 << 20
TOOL_SECONDS = 30


@dataclass(frozen=True)
class Hazard:
    """One archive: its form (`zip`, `tar`), how it is made, and the rule that the strict reader (zip) or the importer must name."""

    name: str
    form: str
    make: Callable[[], bytes]
    rule: str

    @property
    def id(self) -> str:
        return f"{self.form}: {self.name}"


STRICT = tuple(Hazard(name, "zip", make, rule) for name, make, rule in HOSTILE)
FOREIGN = tuple(
    Hazard(name, form, make, rule) for form, rows in (("zip", FOREIGN_ZIPS), ("tar", TARS)) for name, make, rule in rows
)
ALL = (*STRICT, *FOREIGN)


def ask_importer(archive: bytes) -> str:
    """Return the first rule that the importer names, or `imports`."""
    try:
        make_record(import_archive(io.BytesIO(archive), io.BytesIO()).source)
    except Untrusted as refusal:
        return refusal.problems[0].rule
    return IMPORTS


def _by_zipfile(path: Path, place: Path) -> int:
    with warnings.catch_warnings(), zipfile.ZipFile(path) as archive:
        warnings.simplefilter("ignore")
        archive.extractall(place)
    return 0


def _by_tarfile(path: Path, place: Path) -> int:
    with tarfile.open(path) as archive:
        archive.extractall(place, filter="data")
    return 0


def _by_program(*command: str) -> Callable[[Path, Path], int]:
    def run(path: Path, place: Path) -> int:
        arguments = [part.format(path=path, place=place) for part in command]
        done = subprocess.run(
            arguments,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=TOOL_SECONDS,
            check=False,
        )
        return done.returncode

    return run


TOOLS: dict[str, dict[str, Callable[[Path, Path], int]]] = {
    "zip": {"zipfile": _by_zipfile, "unzip": _by_program("unzip", "-o", "-q", "-P", "x", "{path}", "-d", "{place}"), "bsdtar": _by_program("bsdtar", "-xf", "{path}", "-C", "{place}")},
    "tar": {"tarfile": _by_tarfile, "tar": _by_program("tar", "-xf", "{path}", "-C", "{place}"), "bsdtar": _by_program("bsdtar", "-xf", "{path}", "-C", "{place}")},
}  # fmt: skip


def ask_tool(act: Callable[[Path, Path], int], archive: bytes) -> str:
    """Return what a tool does: `takes`, `refuses` (nothing written), `partly` (an error, and files left behind), `escapes`."""
    with tempfile.TemporaryDirectory(prefix="market-hazard-") as folder:
        top = Path(folder, "a", "b", "c")
        place = top / "into"
        place.mkdir(parents=True)
        path = Path(folder, "archive")
        path.write_bytes(archive)
        try:
            failed = act(path, place) != 0
        except (Exception, SystemExit):
            failed = True
        outside = [
            one
            for one in Path(folder).rglob("*")
            if one != path and place not in (one, *one.parents) and one not in place.parents
        ]
        written = any(place.iterdir())
        shutil.rmtree(top, ignore_errors=True)
        if outside:
            return "escapes"
        return ("partly" if failed else "takes") if written else "refuses"


def version_of(tool: str) -> str:
    """Return the version of a tool on this machine, empty where it is missing."""
    if tool in ("zipfile", "tarfile"):
        return platform.python_version()
    if shutil.which(tool) is None:
        return ""
    option = "-v" if tool == "unzip" else "--version"
    return subprocess.run([tool, option], capture_output=True, text=True, check=False).stdout.splitlines()[0]


def load_table() -> dict[str, dict[str, dict[str, str]]]:
    table: dict[str, dict[str, dict[str, str]]] = json.loads(TABLE.read_text())
    return table


def main() -> None:
    """Write the table anew."""
    tools = sorted({tool for tools in TOOLS.values() for tool in tools})
    rows: dict[str, dict[str, str]] = {}
    for hazard in ALL:
        archive = hazard.make()
        rows[hazard.id] = {"importer": ask_importer(archive)}
        if len(archive) < TOO_LARGE and "bomb" not in hazard.name:
            rows[hazard.id] |= {tool: ask_tool(act, archive) for tool, act in TOOLS[hazard.form].items()}
    lines = ",\n".join(f" {json.dumps(name)}: {json.dumps(row)}" for name, row in rows.items())
    versions = json.dumps({"tools": {tool: version_of(tool) for tool in tools}})
    TABLE.write_text(f'{{"versions": {versions},\n"hazards": {{\n{lines}\n}}}}\n')
    sys.stdout.write(f"{len(rows)} hazards\n")


if __name__ == "__main__":
    main()
