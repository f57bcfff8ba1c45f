"""One input through everything that gives a verdict on it: check, archive, publish, upload over HTTP, install, and the registry."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from market.disk.foreign import open_canonical
from market.disk.walk import open_folder
from market.pack.archive_read import read_archive
from market.pack.inspect import Given, inspect_pack
from market.registry.loader import Loader
from market.registry.registry import Registry

if TYPE_CHECKING:
    from pathlib import Path

    from market.registry.live import LiveSkill
    from tests.cli.shell import Ran, Shell
    from tests.index.builders import AnIndex
    from tests.web.asgi import Answer


@dataclass
class Road:
    """Where a case is walked. `folder` is empty at the start."""

    shell: Shell
    index: AnIndex

    @property
    def folder(self) -> Path:
        return self.shell.folder

    def put(self, path: str, content: bytes | str, *, executable: bool = False) -> Path:
        """Write one file of an input."""
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        file.chmod(0o755 if executable else 0o644)
        return file

    def check(self, path: str, *arguments: str) -> dict[str, Any]:
        """What `market check` says of one path."""
        items: list[dict[str, Any]] = self.shell("check", path, *arguments, "--json", expect=None).json["items"]
        return items[0]

    def rules(self, path: str, *arguments: str) -> set[str]:
        return {problem["rule"] for problem in self.check(path, *arguments)["problems"]}

    def publish(self, path: str, *arguments: str, version: str = "1.0.0") -> dict[str, Any]:
        """Publish, and return the item of the answer; the version is given where the input has none."""
        items: list[dict[str, Any]] = self.shell("publish", path, "--version", version, *arguments, "--json").json[
            "items"
        ]
        return items[0]

    def refused(self, path: str, *arguments: str) -> Ran:
        """Demand that check, archive, publish and install all refuse a folder, and that nothing was written anywhere."""
        assert not self.check(path, *arguments)["publishable"]
        ran = self.shell("publish", path, *arguments, expect=2)
        assert self.shell.index.releases == {}
        return ran

    def everywhere_refused(self, path: str) -> None:
        """As `refused`, and neither archived nor installed."""
        self.refused(path)
        self.shell("archive", path, "-o", "never.zip", expect=2)
        self.shell("install", path, expect=2)
        assert not (self.folder / "never.zip").exists()
        assert self.installed() == {}

    def upload(self, archive: bytes, name: str, version: str = "1.0.0") -> Answer:
        """Send an archive over HTTP, as curl would."""
        return self.index.put(archive, name=name, version=version)

    def installed(self) -> dict[str, Path]:
        """Every file in the root, but for Market's own."""
        root = self.shell.root
        if not root.exists():
            return {}
        paths = (path for path in root.rglob("*") if path.is_file() and ".market" not in path.relative_to(root).parts)
        return {path.relative_to(root).as_posix(): path for path in sorted(paths)}

    def registry(self, *roots: Path) -> Registry:
        made = Registry([str(root) for root in roots or (self.shell.root,)], Loader("hold").load)
        made.load()
        return made

    def skills(self, *roots: Path) -> list[LiveSkill]:
        """What the registry has of these roots, by default the installed packs."""
        return list(self.registry(*roots).snapshot.skills.values())


def described(path: Path) -> str:
    """The description of the only skill in a folder or archive, as every reader gets it."""
    if path.is_dir():
        with open_folder(path) as folder:
            pack = inspect_pack(folder.source, Given(version="1.0.0")).pack
    else:
        with open_canonical(io.BytesIO(path.read_bytes()), Given(version="1.0.0")) as archive:
            pack = inspect_pack(read_archive(archive.stream), archive.given).pack
    assert pack is not None
    (skill,) = pack.skills
    return skill.description


def skill_md(
    name: str,
    description: str = "Adds numbers. Use when a sum is asked for.",
    *,
    extra: str = "",
    body: str = "# Steps\n",
) -> str:
    """The text of a SKILL.md without any care for what YAML makes of it."""
    return f"---\nname: {name}\ndescription: {description}\n{extra}---\n\n{body}"


def short(value: object) -> str:
    """The name of a parameter in a test's id: long ones say nothing."""
    return value if isinstance(value, str) and len(value) < 16 and value.isprintable() else ""
