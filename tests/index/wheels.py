"""Wheels and sdists made in memory: `a_wheel()` is a good pack, and every part of it can be made another."""

from __future__ import annotations

import gzip
import io
import json
import tarfile

from tests.wheels import record_row, zip_files

PACKAGE = "text_tools"
SKILL = {
    "name": "shout", "description": "Shout a text. Use when it must be loud.", "version": "1.0.0", "class": "safe",
    "entry": "python:text_tools.run:shout", "env_allow": [], "schema": {"type": "object"},
}  # fmt: skip
GUIDE = b"---\nname: loud-texts\ndescription: How to be loud. Use when a text must be loud.\n---\n# Loud\nWrite in capitals.\n"


def a_wheel(
    *,
    name: str = "text-tools",
    version: str = "1.0.0",
    requires_python: str = ">=3.9",
    skill: dict[str, object] | None = None,
    group: str = "market.skills",
    extra: dict[str, bytes] | None = None,
    metadata: str = "",
    record: bytes | None = None,
    tag: str = "py3-none-any",
) -> bytes:
    """Return a wheel's bytes; the same arguments give the same bytes."""
    files = {
        f"{PACKAGE}/__init__.py": b"",
        f"{PACKAGE}/run.py": b"def shout(params, context):\n    return params['text'].upper()\n",
        f"{PACKAGE}/skills/shout/skill.json": json.dumps(skill or SKILL).encode(),
        f"{PACKAGE}/skills/loud-texts/SKILL.md": GUIDE,
        **(extra or {}),
    }
    folder = f"{name.replace('-', '_')}-{version}.dist-info"
    lines = ["Metadata-Version: 2.4", f"Name: {name}", f"Version: {version}", "Summary: Works on texts."]
    lines += [f"Requires-Python: {requires_python}"] if requires_python else []
    files[f"{folder}/METADATA"] = (metadata or "\n".join(lines) + "\n\nA long description, with ümlauts.\n").encode()
    files[f"{folder}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: {tag}\n".encode()
    if group:
        files[f"{folder}/entry_points.txt"] = f"[{group}]\n{PACKAGE} = {PACKAGE}\n".encode()
    files[f"{folder}/RECORD"] = _record(files, folder) if record is None else record
    return zip_files(files)


def wheel_name(name: str = "text-tools", version: str = "1.0.0", tag: str = "py3-none-any") -> str:
    return f"{name.replace('-', '_')}-{version}-{tag}.whl"


def an_sdist(*, name: str = "text-tools", version: str = "1.0.0", top: str = "", inside: str = "") -> bytes:
    out = io.BytesIO()
    stem = top or f"{name.replace('-', '_')}-{version}"
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive:
        metadata = f"Metadata-Version: 2.4\nName: {inside or name}\nVersion: {version}\nRequires-Python: >=3.10\n".encode()
        for path, body in {"PKG-INFO": metadata, "pyproject.toml": b"[project]\n"}.items():
            entry = tarfile.TarInfo(f"{stem}/{path}")
            entry.size = len(body)
            archive.addfile(entry, io.BytesIO(body))
    return gzip.compress(out.getvalue(), mtime=0)


def _record(files: dict[str, bytes], folder: str) -> bytes:
    return ("".join(record_row(path, body) for path, body in files.items()) + f"{folder}/RECORD,,\n").encode()
