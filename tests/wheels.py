"""Small real wheels, written by hand so that a test can write a bad one: `a_wheel(...)` gives its bytes."""

from __future__ import annotations

import base64
import hashlib
import io
import zipfile
from typing import TYPE_CHECKING, Any

from tests.factories import a_skill_json, a_skill_md

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

ECHO = "def echo_py(params, context):\n    return {'echo': params, 'version': '{version}'}\n"


def a_python_skill(name: str = "echo_py", target: str = "", package: str = "demo_pack", **changes: object) -> bytes:
    """A good skill.json of a python skill; its code is `PACKAGE.skills:NAME` unless `target` says otherwise."""
    fields = {"entry": f"python:{target or f'{package}.skills:{name}'}", "version": None, **changes}
    return a_skill_json(**{"name": name, "description": f"Runs {name}. Use in tests.", **fields})


def record_row(path: str, content: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return f"{path},sha256={digest},{len(content)}\n"


def wheel_files(
    files: Mapping[str, bytes | str] | None = None,
    *,
    name: str = "demo-pack",
    version: str = "1.0.0",
    requires: tuple[str, ...] = (),
    metadata: str = "",
    entry_points: str | None = None,
    tag: str = "py3-none-any",
) -> dict[str, bytes]:
    """The files of a wheel with RECORD; by default one guide in the package `demo_pack`."""
    package = name.replace("-", "_")
    dist_info = f"{package}-{version}.dist-info"
    contents = {f"{package}/__init__.py": b"", **{path: _encode(content) for path, content in (files or {}).items()}}
    if files is None:
        contents[f"{package}/greeting/SKILL.md"] = a_skill_md()
    lines = "".join(f"Requires-Dist: {requirement}\n" for requirement in requires)
    contents[f"{dist_info}/METADATA"] = (
        f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{lines}{metadata}\n".encode(errors="surrogateescape")
    )
    contents[f"{dist_info}/WHEEL"] = (
        f"Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: {tag}\n".encode()
    )
    points = f"[market.skills]\n{name} = {package}\n" if entry_points is None else entry_points
    if points:
        contents[f"{dist_info}/entry_points.txt"] = points.encode()
    record = "".join(record_row(path, content) for path, content in contents.items())
    contents[f"{dist_info}/RECORD"] = (record + f"{dist_info}/RECORD,,\n").encode()
    return contents


def zip_files(contents: Mapping[str, bytes]) -> bytes:
    """A deflated zip, as wheel builders write it."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in contents.items():
            row = zipfile.ZipInfo(path, (2026, 1, 2, 3, 4, 6))
            row.external_attr = (0o100755 if path.endswith(".sh") else 0o100644) << 16
            archive.writestr(row, content, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def a_wheel(files: Mapping[str, bytes | str] | None = None, **options: object) -> bytes:
    """A good wheel; see `wheel_files`."""
    return zip_files(wheel_files(files, **options))  # type: ignore[arg-type]


def code_files(
    code: str = ECHO,
    *,
    version: str = "1.0.0",
    name: str = "demo-pack",
    skill: str = "echo_py",
    more: Mapping[str, bytes | str] | None = None,
    manifest: Mapping[str, Any] | None = None,
    **options: Any,
) -> dict[str, bytes]:
    """The files of a wheel with one python skill, whose function of its name is in `code`; `{version}` in it is filled in."""
    package = name.replace("-", "_")
    files: dict[str, bytes | str] = {
        f"{package}/skills.py": code.replace("{version}", version),
        f"{package}/{skill}/skill.json": a_python_skill(skill, package=package, **(manifest or {})),
        **(more or {}),
    }
    return wheel_files(files, name=name, version=version, **options)


def a_code_wheel(code: str = ECHO, **options: Any) -> bytes:
    """A wheel with one python skill; see `code_files`."""
    return zip_files(code_files(code, **options))


def write_wheel(
    folder: Path, content: bytes, name: str = "demo-pack", version: str = "1.0.0", tag: str = "py3-none-any"
) -> Path:
    """Write a wheel under the name that its builder would give it."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name.replace('-', '_')}-{version}-{tag}.whl"
    path.write_bytes(content)
    return path


def _encode(content: bytes | str) -> bytes:
    return content if isinstance(content, bytes) else content.encode()
