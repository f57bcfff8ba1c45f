"""What packs need from the machine: refused before anything is written, or installed and named as ineligible."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.factories import RUN_SCRIPT, a_skill_json, a_skill_md

if TYPE_CHECKING:
    from tests.cli.shell import Shell


def publish(shell: Shell, needs: str, version: str = "1.0.0", name: str = "app") -> None:
    manifest = f"name: {name}\nversion: '{version}'\nsummary: A pack.\nneeds: {needs}\n".encode()
    files = {"pack.yaml": manifest, "SKILL.md": a_skill_md(name).replace(b"1.0.0", version.encode())}
    shell("publish", shell.pack(f"sources/{name}-{version}", files=files))


@pytest.mark.parametrize("needs", ["{os: [plan9]}", "{python: '>=99'}", "{os: [plan9], bins: [sh]}"])
def test_another_system_or_python_is_refused_before_anything_is_written(shell: Shell, needs: str) -> None:
    publish(shell, needs)
    before = shell.everything()
    error = shell("install", "app", "--json", expect=6).error
    assert error["code"] == "refused" and "it needs " in error["why"] and error["hint"]
    assert not (shell.root / "app").exists() and not shell.home.archives.exists()
    assert {path for path in shell.everything() if path not in before} <= {"home/skills/.market/lock"}


def test_an_older_release_for_this_machine_is_taken_and_said(shell: Shell) -> None:
    publish(shell, "{os: [linux, darwin]}")
    publish(shell, "{os: [plan9]}", "2.0.0")
    ran = shell("install", "app")
    assert "installed app 1.0.0" in ran.out and "app 2.0.0 was passed over: it needs the system plan9" in ran.out
    assert "app 2.0.0 may not be installed here" in shell("install", "app@2.0.0", expect=6).err


def test_what_can_be_provided_is_installed_and_named_with_how_to_get_it(shell: Shell) -> None:
    publish(shell, "{bins: [no-such-program], env: [API_KEY], hosts: [nothing.invalid]}")
    ran = shell("install", "app")
    assert (
        "app is not eligible here: it needs the program 'no-such-program' on PATH; install no-such-program" in ran.out
    )
    assert "the environment variable API_KEY; set API_KEY where the skill is run" in ran.out
    assert "the host nothing.invalid, which can't be found" in ran.out
    assert (shell.root / "app" / "SKILL.md").is_file()


def test_strict_needs_refuses_it_also_in_a_dry_run(shell: Shell) -> None:
    publish(shell, "{bins: [no-such-program]}")
    for extra in ([], ["--dry-run"]):
        assert "--strict-needs was given" in shell("install", "app", "--strict-needs", *extra, expect=6).err
    assert not (shell.root / "app").exists()
    shell("install", "app")
    publish(shell, "{bins: [no-such-program]}", "1.1.0")
    error = shell("upgrade", "--strict-needs", "--json", expect=6).error
    assert error["details"]["missing"] == [{"kind": "bins", "name": "no-such-program"}]


def test_a_dry_run_knows_the_needs_of_single_skills(shell: Shell) -> None:
    guide = a_skill_md("app", extra="").replace(
        b"metadata:\n", b"metadata:\n  requires:\n    bins: [no-such-program]\n"
    )
    shell("publish", shell.pack("app", files={"SKILL.md": guide}))
    rows = [shell("install", "app", *extra, "--json").json["plan"][0]["missing"] for extra in (["--dry-run"], [])]
    assert (
        rows[0]
        == rows[1]
        == [
            {
                "skill": "app",
                "kind": "bins",
                "name": "no-such-program",
                "advice": "install no-such-program, where PATH finds it",
            }
        ]
    )


def test_a_pack_is_refused_only_where_none_of_its_skills_can_work(shell: Shell) -> None:
    elsewhere = a_skill_md("far", extra="").replace(b"metadata:\n", b"metadata:\n  os: [plan9]\n")
    files = {
        "pack.yaml": b"name: both\nversion: 1.0.0\nsummary: x\n",
        "far/SKILL.md": elsewhere,
        "near/skill.json": a_skill_json(name="near"),
        "near/run.sh": RUN_SCRIPT,
    }
    shell.pack("both", files=files)
    assert "far is not eligible here: it needs the system plan9" in shell("install", "./both").out
    shell.pack("far", files={"SKILL.md": elsewhere})
    assert "it could never work on this machine" in shell("install", "./far", expect=6).err
    assert not (shell.root / "far").exists()
