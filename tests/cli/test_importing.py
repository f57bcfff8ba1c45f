"""Archives of other programs through archive --from, check, upload and install."""

from __future__ import annotations

import io
import os
import stat
from typing import TYPE_CHECKING

import pytest

from market.pack.archive_read import read_archive
from tests.client.server import Answer, serve
from tests.factories import RUN_SCRIPT, a_skill_json
from tests.pack.foreign_makers import finder_zip, github_tarball, python_zip, tar_gz, windows_zip

if TYPE_CHECKING:
    from tests.cli.shell import Shell


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("f.zip", finder_zip()),
        ("w.zip", windows_zip()),
        ("g.tar.gz", github_tarball()),
        ("g.tgz", github_tarball()),
        ("f.skill", finder_zip()),
    ],
)
def test_every_form_becomes_a_canonical_archive(shell: Shell, name: str, content: bytes) -> None:
    (shell.folder / name).write_bytes(content)
    done = shell("archive", "--from", name, "-o", "out.zip", "--version", "1.0.0", "--json").json
    assert {problem["rule"] for problem in done["problems"]} >= {"import-form", "import-wrapper"}
    source = read_archive(io.BytesIO((shell.folder / "out.zip").read_bytes()))
    assert [file["path"] for file in done["files"]] == [file.path for file in source.files()]
    assert "taken off" in shell("archive", "--from", name, "-o", "again.zip", "--version", "1.0.0").out
    assert (shell.folder / "again.zip").read_bytes() == (shell.folder / "out.zip").read_bytes()


def test_a_name_and_a_file_are_told_apart(shell: Shell) -> None:
    shell.pack()
    assert "--from" in shell("archive", expect=2).err
    assert "--from" in shell("archive", "my-pack", "--from", "x.zip", expect=2).err
    assert "folder" in shell("archive", "--from", "my-pack", expect=2).err
    shell("archive", "--from", "nowhere.zip", expect=3)


def test_a_dry_run_says_what_would_change_and_writes_nothing(shell: Shell) -> None:
    (shell.folder / "f.zip").write_bytes(finder_zip())
    before = shell.everything()
    ran = shell("archive", "--from", "f.zip", "--dry-run")
    assert "__MACOSX" in ran.out and "SKILL.md" in ran.out
    assert shell.everything() == before


@pytest.mark.parametrize("verb", ["upload", "install", "check", "archive --from"])
def test_a_hostile_archive_is_refused_by_every_command_with_the_same_rule(shell: Shell, verb: str) -> None:
    (shell.folder / "evil.tar.gz").write_bytes(tar_gz({"kit/skill.json": a_skill_json(), "kit/../../evil": b"x"}))
    before = shell.everything()
    ran = shell(*verb.split(), "evil.tar.gz", "--json", expect=2 if verb == "check" else 5)
    problems = ran.json["items"][0]["problems"] if verb == "check" else ran.error["problems"]
    assert "path-parts" in {problem["rule"] for problem in problems}
    after = {
        path: content for path, content in shell.everything().items() if not path.startswith("home/skills/.market/")
    }
    assert after == before


def test_upload_imports_says_so_and_sends_what_archive_makes(shell: Shell) -> None:
    (shell.folder / "g.tgz").write_bytes(github_tarball())
    shell("archive", "--from", "g.tgz", "-o", "canonical.zip", "--version", "3.0")
    ran = shell("upload", "g.tgz", "--version", "3.0", "--json").json
    assert {change["rule"] for change in ran["changes"]} >= {"import-form", "import-wrapper"}
    again = shell("upload", "canonical.zip", "--version", "3.0")
    assert "unchanged" in again.out and "  changed:" not in again.out


def test_a_dry_run_of_upload_names_the_changes(shell: Shell) -> None:
    (shell.folder / "g.tgz").write_bytes(github_tarball())
    assert "taken off" in shell("upload", "g.tgz", "--version", "3.0", "--dry-run").out
    assert shell.index.releases == {}


def test_upload_into_a_host_sends_the_imported_archive(shell: Shell) -> None:
    (shell.folder / "w.zip").write_bytes(windows_zip())
    answer = Answer(body=b'{"name": "echo-args", "version": "1.0.0", "action": "installed"}')
    with serve(lambda asked: answer) as host:
        ran = shell("upload", "w.zip", "--host", host.url, "--host-token", "t", "--json").json
    assert ran["action"] == "installed" and ran["changes"]
    assert read_archive(io.BytesIO(host.asked[-1].body)).files()


def test_install_imports_and_says_so(shell: Shell) -> None:
    (shell.folder / "w.zip").write_bytes(windows_zip())
    ran = shell("install", "w.zip", "--json").json
    assert {change["rule"] for change in ran["items"][0]["changes"]} >= {"import-backslash", "import-executable"}
    run = shell.root / "echo-args" / "bin" / "run.sh"
    assert run.read_bytes().startswith(b"#!") and os.access(run, os.X_OK)
    assert "unchanged" in shell("install", "./w.zip").out
    assert shell("run", "echo_args", "--args", '{"a": 1}', "--json").json["result"] == {"a": 1}


def test_set_user_id_never_reaches_the_disk(shell: Shell) -> None:
    files = {"skill.json": a_skill_json(), "run.sh": RUN_SCRIPT, "data": b"x"}
    (shell.folder / "s.tar.gz").write_bytes(tar_gz(files, {"run.sh": 0o6777, "data": 0o1666}))
    assert "6777" in shell("install", "./s.tar.gz").out
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (shell.root / "echo-args").iterdir()}
    assert modes == {"run.sh": 0o755, "data": 0o644, "skill.json": 0o644}


def test_check_gives_the_verdict_that_publish_will_give(shell: Shell) -> None:
    (shell.folder / "w.zip").write_bytes(windows_zip())
    (item,) = shell("check", "w.zip", "--json").json["items"]
    assert item["publishable"] and "import-form" in {problem["rule"] for problem in item["problems"]}
    (shell.folder / "bad.zip").write_bytes(python_zip({"skill.json": a_skill_json(name="Bad Name")}))
    (item,) = shell("check", "bad.zip", "--json", expect=2).json["items"]
    assert "skill-name" in {problem["rule"] for problem in item["problems"]}
