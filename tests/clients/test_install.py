"""pip, uv and pypi-simple, as they are on the day of the test, read a served index."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from typing import TYPE_CHECKING, Any

import pytest

from tests.clients.cut import cutting
from tests.flows.processes import World
from tests.index.wheels import a_wheel, wheel_name

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tests.clients.conftest import Served
    from tests.clients.programs import Programs

pytestmark = pytest.mark.real
LAZY = """
import json, sys
from pip._internal.network.lazy_wheel import dist_from_wheel_url
from pip._internal.network.session import PipSession
session, ranges = PipSession(), []
session.hooks["response"].append(lambda answer, **_: ranges.append([answer.status_code, answer.request.headers.get("Range")]))
found = dist_from_wheel_url("text-tools", sys.argv[1], session)
print(json.dumps({"version": str(found.version), "python": str(found.requires_python), "ranges": ranges}))
"""
PAGES = """
import json, sys
from pypi_simple import ACCEPT_HTML_ONLY, ACCEPT_JSON_ONLY, PyPISimple
def read(accept):
    with PyPISimple(sys.argv[1], accept=accept) as index:
        page = index.get_project_page(sys.argv[2])
        names = index.get_index_page().projects
        return {"status": page.status, "version": page.repository_version, "versions": page.versions, "names": names, "files": [
            {"name": one.filename, "project": one.project, "kind": one.package_type, "digests": dict(one.digests), "python": one.requires_python,
             "yanked": one.is_yanked, "reason": one.yanked_reason, "size": one.size, "time": one.upload_time and one.upload_time.isoformat(),
             "metadata": dict(one.metadata_digests or {}), "text": index.get_package_metadata(one) if one.has_metadata else "", "url": one.url}
            for one in page.packages]}
print(json.dumps([read(ACCEPT_JSON_ONLY), read(ACCEPT_HTML_ONLY)]))
"""


def publish(served: Served, tmp_path: Path, name: str, versions: Sequence[str], **options: Any) -> None:
    """Publish wheels with our own command, which has tests of its own."""
    world = World(tmp_path / "publisher")
    (world.home / "dist").mkdir(parents=True, exist_ok=True)
    paths = []
    for version in versions:
        paths.append(world.home / "dist" / wheel_name(name=name, version=version))
        paths[-1].write_bytes(a_wheel(name=name, version=version, **options))
    world.run("publish", *paths, "--index", served.url, "--token", served.token)


def metadata_of(folder: Path, name: str = "text_tools") -> str:
    found = next(folder.glob(f"{name}-*.dist-info/METADATA"), None)
    return found.read_text() if found else ""


def test_pip_installs(served: Served, programs: Programs, tmp_path: Path) -> None:
    publish(served, tmp_path, "text-tools", ["1.0.0", "1.1.0"])
    programs.pip("install", "--target", tmp_path / "open", "--index-url", served.simple, "Text_Tools")
    assert "Version: 1.1.0" in metadata_of(tmp_path / "open")
    programs.pip("install", "--target", tmp_path / "closed", "--index-url", served.closed_with_token, "text-tools==1.0.0")
    assert (tmp_path / "closed/text_tools/skills/shout/skill.json").exists()
    ran = programs.pip("install", "--target", tmp_path / "no", "--index-url", served.closed_simple, "text-tools", expect=1)
    assert "No matching distribution" in ran.said
    listed = programs.pip("index", "versions", "--json", "--index-url", served.simple, "text-tools")
    assert json.loads(listed.out)["versions"] == ["1.1.0", "1.0.0"]


def test_uv_installs(served: Served, programs: Programs, tmp_path: Path) -> None:
    publish(served, tmp_path, "for-uv", ["1.0.0", "1.1.0"])
    programs.uv("pip", "install", "--target", tmp_path / "open", "--default-index", served.simple, "for-uv")
    assert "Version: 1.1.0" in metadata_of(tmp_path / "open", "for_uv")
    programs.uv("pip", "install", "--target", tmp_path / "closed", "--default-index", served.closed_with_token, "for-uv==1.0.0")
    assert "Version: 1.0.0" in metadata_of(tmp_path / "closed", "for_uv")
    ran = programs.uv("pip", "install", "--no-cache", "--target", tmp_path / "no", "--default-index", served.closed_simple, "for-uv", expect=1)
    assert "401 Unauthorized" in ran.said
    # `upload-time` is what this asks for: a file without it would be unusable.
    ran = programs.uv("pip", "compile", "--default-index", served.simple, "--exclude-newer", "2020-01-01", _lines(tmp_path, "for-uv"), expect=1)
    assert "exclude-newer" in ran.said or "no versions" in ran.said.lower()


def test_what_is_published_now_is_seen_by_the_next_command(served: Served, programs: Programs, tmp_path: Path) -> None:
    for version in ("1.0.0", "1.0.1"):
        publish(served, tmp_path, "fresh", [version])
        programs.uv("pip", "install", "--upgrade", "--target", tmp_path / "uv", "--default-index", served.simple, "fresh")
        assert f"Version: {version}" in metadata_of(tmp_path / "uv", "fresh")


def test_pip_checks_hashes(served: Served, programs: Programs, tmp_path: Path) -> None:
    publish(served, tmp_path, "hashed", ["1.0.0"])
    good = hashlib.sha256(a_wheel(name="hashed")).hexdigest()
    for digest, code in ((good, 0), ("0" * 64, 1)):
        wanted = _lines(tmp_path, f"hashed==1.0.0 --hash=sha256:{digest}")
        programs.pip("download", "--no-deps", "--require-hashes", "-d", tmp_path / f"got-{code}", "--index-url", served.simple, "-r", wanted, expect=code)
    assert (tmp_path / "got-0" / wheel_name(name="hashed")).read_bytes() == a_wheel(name="hashed")


def test_requires_python_is_obeyed(served: Served, programs: Programs, tmp_path: Path) -> None:
    publish(served, tmp_path, "for-others", ["1.0.0"])
    publish(served, tmp_path, "for-others", ["2.0.0"], requires_python=">=3.99")
    programs.pip("install", "--target", tmp_path / "pip", "--index-url", served.simple, "for-others")
    programs.uv("pip", "install", "--target", tmp_path / "uv", "--default-index", served.simple, "for-others")
    for folder in ("pip", "uv"):
        assert "Version: 1.0.0" in metadata_of(tmp_path / folder, "for_others")


def test_yanked_release_is_passed_over_and_given_to_who_names_it(served: Served, programs: Programs, tmp_path: Path) -> None:
    publish(served, tmp_path, "yanked", ["1.0.0", "1.1.0"])
    World(tmp_path / "publisher").run("yank", "yanked@1.1.0", "--reason", "eats files", "--index", served.url, "--token", served.token)
    programs.pip("install", "--target", tmp_path / "pip", "--index-url", served.simple, "yanked")
    programs.uv("pip", "install", "--target", tmp_path / "uv", "--default-index", served.simple, "yanked")
    for folder in ("pip", "uv"):
        assert "Version: 1.0.0" in metadata_of(tmp_path / folder, "yanked")
    assert "eats files" in programs.pip("download", "--no-deps", "-d", tmp_path / "exact", "--index-url", served.simple, "yanked==1.1.0").said
    assert "eats files" in programs.uv("pip", "install", "--target", tmp_path / "exact", "--default-index", served.simple, "yanked==1.1.0").said


def test_quarantined_pack_is_not_installed(served: Served, programs: Programs, tmp_path: Path) -> None:
    publish(served, tmp_path, "dangerous", ["1.0.0"])
    with sqlite3.connect(served.data / "index.db") as connection:
        connection.execute("UPDATE releases SET state = 'quarantined' WHERE pack_id = (SELECT id FROM packs WHERE name = 'dangerous')")
    connection.close()
    # The state alone closes the file; the page follows with the next write of the pack.
    ran = programs.pip("download", "--no-deps", "-d", tmp_path / "got", "--index-url", served.simple, "dangerous", expect=1)
    assert "404" in ran.said


def test_pip_reads_the_metadata_by_range(served: Served, programs: Programs, tmp_path: Path) -> None:
    """This is what `--use-feature=fast-deps` does where an index has no sidecar; ours has one, so it is called by itself."""
    blob = os.urandom(200_000)
    publish(served, tmp_path, "text-tools", ["3.0.0"], extra={"text_tools/blob.bin": blob})
    wheel = a_wheel(version="3.0.0", extra={"text_tools/blob.bin": blob})
    url = f"{served.url}/files/{hashlib.sha256(wheel).hexdigest()}/{wheel_name(version='3.0.0')}"
    read = programs.script(LAZY, url)
    assert (read["version"], read["python"]) == ("3.0.0", ">=3.9")
    assert [status for status, asked in read["ranges"] if asked] and all(status == 206 for status, asked in read["ranges"] if asked)
    programs.pip("install", "--use-feature=fast-deps", "--target", tmp_path / "pip", "--index-url", served.simple, "text-tools==3.0.0")


def test_pip_resumes_a_download_that_broke(served: Served, programs: Programs, tmp_path: Path) -> None:
    blob = os.urandom(900_000)
    publish(served, tmp_path, "large", ["1.0.0"], extra={"text_tools/blob.bin": blob})
    with cutting(served.url, 300_000) as cut:
        options = ("--no-deps", "--no-cache-dir", "--resume-retries", "3", "-d", tmp_path / "got")
        programs.pip("download", *options, "--index-url", f"{cut.url}/simple/", "large")
    assert (tmp_path / "got" / wheel_name(name="large")).read_bytes() == a_wheel(name="large", extra={"text_tools/blob.bin": blob})
    resumed = [request for request in cut.requests if "\nrange: bytes=" in request.lower()]
    assert cut.is_cut and resumed and "if-range:" in resumed[0].lower()


def test_an_independent_reader_reads_the_same_from_both_forms(served: Served, programs: Programs, tmp_path: Path) -> None:
    publish(served, tmp_path, "read-me", ["1.0.0", "1.1.0"])
    World(tmp_path / "publisher").run("yank", "read-me@1.0.0", "--reason", "old <&>", "--index", served.url, "--token", served.token)
    as_json, as_html = programs.script(PAGES, served.simple, "read-me")
    assert as_json["versions"] == ["1.0.0", "1.1.0"] and all(file["size"] and file["time"] for file in as_json["files"])
    assert [file["url"] for file in as_json["files"]] == [file["url"] for file in as_html["files"]]
    for file in (*as_json["files"], *as_html["files"]):
        assert file["metadata"]["sha256"] == hashlib.sha256(file["text"].encode()).hexdigest()
    for page in (as_json, as_html):
        page["versions"] = None
        for file in page["files"]:
            file["size"] = file["time"] = None
    assert as_json == as_html
    assert (as_json["status"], as_json["version"]) == ("active", "1.4")
    assert as_json["files"][0]["reason"] == "old <&>"


def _lines(folder: Path, text: str) -> Path:
    path = folder / "requirements.txt"
    path.write_text(text)
    return path
