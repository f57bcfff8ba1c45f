"""Small real wheels to measure with: a pack of one guide."""

from __future__ import annotations

import base64
import hashlib
import io
import zipfile

GUIDE = (
    b"---\nname: {name}\ndescription: A guide of {name}. Use when something is measured.\n---\n# Measured\nRead this.\n"
)
METADATA = "Metadata-Version: 2.1\nName: {name}\nVersion: {version}\nRequires-Python: >=3.9\nSummary: Measured.\n"


def bench_wheel(name: str, version: str, extra: bytes = b"") -> bytes:
    """Return a wheel's bytes; `extra` becomes a file that makes it larger."""
    package = name.replace("-", "_")
    folder = f"{package}-{version}.dist-info"
    files = {
        f"{package}/__init__.py": b"",
        f"{package}/skill/SKILL.md": GUIDE.replace(b"{name}", name.encode()),
        f"{folder}/METADATA": METADATA.format(name=name, version=version).encode(),
        f"{folder}/WHEEL": b"Wheel-Version: 1.0\nGenerator: bench\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{folder}/entry_points.txt": f"[market.skills]\n{name} = {package}\n".encode(),
    }
    if extra:
        files[f"{package}/extra.bin"] = extra
    rows = [f"{path},sha256={_hash(body)},{len(body)}\n" for path, body in files.items()]
    files[f"{folder}/RECORD"] = ("".join(rows) + f"{folder}/RECORD,,\n").encode()
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, body in files.items():
            archive.writestr(zipfile.ZipInfo(path, (2026, 1, 1, 0, 0, 0)), body)
    return out.getvalue()


def _hash(body: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(body).digest()).rstrip(b"=").decode()
