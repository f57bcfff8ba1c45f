"""Published collections of skills, installed from the package registries when a test runs; nothing of them is kept in the project."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tarfile
from dataclasses import dataclass
from pathlib import Path

UV = str(Path(sys.executable).with_name("uv"))
PYTHON_COLLECTIONS = {"arc-free-skills": "1.0.0", "adclaw": "1.0.33", "bitranox-skills": "8.24.0"}
NPM_COLLECTIONS = {"ecc-universal": "2.0.0"}
FOLDERS = {"arc-free-skills": 100, "adclaw": 122, "bitranox-skills": 83, "ecc-universal": 719}
SAMPLE_FOLDERS = 150


@dataclass(frozen=True)
class Published:
    """One folder with a SKILL.md out of a published collection."""

    collection: str
    path: Path
    relative: str

    @property
    def key(self) -> str:
        """How the pinned list names it."""
        return f"{self.collection}/{self.relative}"

    @property
    def pack_name(self) -> str:
        """A name that no other folder has: collections repeat names, translations above all."""
        return f"real-{hashlib.sha256(self.key.encode()).hexdigest()[:12]}"


def cache_folder() -> Path:
    """Return the folder that keeps downloaded collections between runs."""
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "skill-market-tests"


def all_folders() -> list[Published]:
    """Return every folder with a SKILL.md, collection by collection."""
    found = []
    for name, version in (PYTHON_COLLECTIONS | NPM_COLLECTIONS).items():
        tree = _fetched(name, version)
        manifests = sorted(path for path in tree.rglob("SKILL.md") if "node_modules" not in path.parts)
        found += [Published(name, path.parent, path.parent.relative_to(tree).as_posix()) for path in manifests]
    return found


def chosen(folders: list[Published]) -> list[Published]:
    """Return the fixed sample, or everything when MARKET_TEST_REAL=all."""
    if os.environ.get("MARKET_TEST_REAL") == "all":
        return folders
    spread = sorted(folders, key=lambda folder: hashlib.sha256(folder.key.encode()).hexdigest())
    return sorted(spread[:SAMPLE_FOLDERS], key=lambda folder: folder.key)


def independent_tree_digest(folder: Path) -> str:
    """Compute a folder's tree digest from the page docs/pack-format.md alone, without the product's code."""
    lines = []
    for path in sorted(
        (path for path in folder.rglob("*") if path.is_file()),
        key=lambda path: path.relative_to(folder).as_posix().encode(),
    ):
        body = path.read_bytes()
        executable = os.access(path, os.X_OK) and bool(path.stat().st_mode & 0o100)
        mark = "x" if executable and body.startswith(b"#!") else "-"
        lines.append(f"{hashlib.sha256(body).hexdigest()} {mark} {len(body)} {path.relative_to(folder).as_posix()}\n")
    return "sha256:" + hashlib.sha256(b"market-tree-1\n" + "".join(lines).encode()).hexdigest()


def _fetched(name: str, version: str) -> Path:
    target = cache_folder() / f"{name}-{version}"
    if not (target / ".complete").exists():
        target.mkdir(parents=True, exist_ok=True)
        _fetch_python(name, version, target) if name in PYTHON_COLLECTIONS else _fetch_npm(name, version, target)
        (target / ".complete").touch()
    return target / "tree"


def _fetch_python(name: str, version: str, target: Path) -> None:
    command = [
        UV,
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--target",
        str(target / "tree"),
        "--python",
        sys.executable,
        f"{name}=={version}",
    ]
    subprocess.run(command, check=True)


def _fetch_npm(name: str, version: str, target: Path) -> None:
    packed = subprocess.run(
        ["npm", "pack", f"{name}@{version}", "--silent", "--pack-destination", str(target)],
        check=True,
        capture_output=True,
        text=True,
    )
    with tarfile.open(target / packed.stdout.split()[-1]) as archive:
        archive.extractall(target / "tree", filter="data")
