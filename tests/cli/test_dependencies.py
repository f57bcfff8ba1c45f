"""Packs that require each other: installed, upgraded and planned together."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from market.errors import Unauthenticated
from tests.factories import RUN_SCRIPT, a_skill_json, a_skill_md
from tests.wheels import a_code_wheel, write_wheel

if TYPE_CHECKING:
    from tests.cli.shell import Shell


def publish(shell: Shell, name: str, version: str = "1.0.0", *requires: str, **skill: object) -> None:
    """Publish a pack NAME with one guide, or with a command where fields of its skill.json are given."""
    manifest = f"name: {name}\nversion: '{version}'\nsummary: A pack.\nrequires: {json.dumps(list(requires))}\n"
    files = {"pack.yaml": manifest.encode(), "SKILL.md": a_skill_md(name).replace(b"1.0.0", version.encode())}
    if skill:
        key = name.replace("-", "_")
        fields = {("class" if field == "skill_class" else field): value for field, value in skill.items()}
        files = {
            "pack.yaml": manifest.encode(),
            "run.sh": RUN_SCRIPT,
            "skill.json": a_skill_json(**{"name": key, "version": version, **fields}),
        }
    folder = shell.pack(f"sources/{name}-{version}", files=files)
    shell("publish", folder)


def installed(shell: Shell) -> dict[str, str]:
    return {row["name"]: row["version"] for row in shell("list", "--json").json["items"]}


def plan(shell: Shell, *arguments: str) -> dict[str, str]:
    return {row["name"]: row["action"] for row in shell(*arguments, "--json").json["plan"]}


def test_what_a_pack_requires_is_installed_with_it(shell: Shell) -> None:
    publish(shell, "base")
    publish(shell, "kit", "2.0.0", "base")
    publish(shell, "app", "1.0.0", "kit>=2")
    ran = shell("install", "app")
    assert "installed kit 2.0.0" in ran.out and "required by app" in ran.out and "required by kit" in ran.out
    assert installed(shell) == {"app": "1.0.0", "base": "1.0.0", "kit": "2.0.0"}
    assert all((shell.root / name / "SKILL.md").is_file() for name in ("app", "base", "kit"))


def test_no_deps_leaves_it_out_and_says_what_is_missing(shell: Shell) -> None:
    publish(shell, "app", "1.0.0", "kit>=2")
    ran = shell("install", "app", "--no-deps")
    assert "app requires kit>=2, which is not installed: `market install 'kit>=2'`" in ran.out
    assert shell("install", "app", "--no-deps", "--json").json["missing_requires"] == [
        {"name": "app", "requires": "kit>=2"}
    ]


def test_a_closure_that_can_t_be_had_installs_nothing_and_says_why(shell: Shell) -> None:
    publish(shell, "kit", "1.0.0")
    publish(shell, "app", "1.0.0", "kit>=2")
    error = shell("install", "app", "--json", expect=4).error
    assert "app 1.0.0 requires kit>=2" in error["why"] and "of kit there is 1.0.0" in error["why"] and error["hint"]
    assert error["details"]["wants"] == [{"by": "app 1.0.0", "requires": "kit>=2"}]
    publish(shell, "lost", "1.0.0", "gone")
    assert "the pack gone, which is required" in shell("install", "lost", expect=3).err
    assert installed(shell) == {}


def test_a_token_that_is_refused_for_a_required_pack_ends_it(shell: Shell) -> None:
    publish(shell, "kit")
    publish(shell, "app", "1.0.0", "kit")

    def answer(path: str, value: object) -> object:
        if path.startswith("/v1/packs/kit/"):
            raise Unauthenticated("who are you")
        return value

    shell.index.change_answer = answer
    shell("install", "app", expect=6)
    assert installed(shell) == {}


def test_what_is_installed_stays_where_it_is_good_enough(shell: Shell) -> None:
    publish(shell, "kit", "1.0.0")
    shell("install", "kit")
    publish(shell, "kit", "1.5.0")
    publish(shell, "app", "1.0.0", "kit")
    assert plan(shell, "install", "app", "--dry-run") == {"app": "install", "kit": "keep"}
    assert "would keep kit 1.0.0, required by app" in shell("install", "app", "--dry-run").out
    shell("install", "app")
    assert installed(shell) == {"app": "1.0.0", "kit": "1.0.0"}


def test_an_upgrade_brings_what_the_new_release_requires(shell: Shell) -> None:
    publish(shell, "app", "1.0.0")
    shell("install", "app")
    publish(shell, "kit", "2.0.0")
    publish(shell, "app", "2.0.0", "kit>=2")
    assert plan(shell, "upgrade", "--dry-run") == {"app": "upgrade", "kit": "install"}
    shell("upgrade")
    assert installed(shell) == {"app": "2.0.0", "kit": "2.0.0"}
    assert "up to date" in shell("upgrade").out


def test_an_upgrade_that_would_break_a_neighbour_stops_before_it(shell: Shell) -> None:
    publish(shell, "kit", "1.0.0")
    publish(shell, "app", "1.0.0", "kit<2")
    shell("install", "app")
    publish(shell, "kit", "2.0.0")
    assert plan(shell, "upgrade", "--dry-run") == {"app": "keep", "kit": "keep"}
    assert "app 1.0.0, which is installed, requires kit<2" in shell("install", "kit@2.0.0", expect=4).err


def test_a_folder_may_bring_what_another_one_requires(shell: Shell) -> None:
    for name, requires in (("app", "kit>=2"), ("kit", "base")):
        manifest = f"name: {name}\nversion: 2.0.0\nsummary: x\nrequires: [{requires}]\n".encode()
        shell.pack(name, files={"pack.yaml": manifest, "SKILL.md": a_skill_md(name)})
    publish(shell, "base")
    items = shell("install", "./app", "./kit", "--json").json["items"]
    assert [(row["name"], row["origin"]["kind"]) for row in items] == [
        ("app", "folder"),
        ("kit", "folder"),
        ("base", "index"),
    ]
    assert "named twice" in shell("install", "./app", f"{shell.folder}/app", expect=4).err


def test_a_dry_run_downloads_no_archive_and_says_the_same_as_the_install(shell: Shell) -> None:
    publish(shell, "kit", skill_class="mutating")
    publish(shell, "app", "1.0.0", "kit")
    planned = shell("install", "app", "--dry-run", "--json").json
    assert not any("/blobs/" in url for _, url, _ in shell.index.requests)
    assert not shell.home.archives.exists() and not shell.root.exists()
    done = shell("install", "app", "--json").json
    assert planned["plan"] == done["plan"]
    same = ("name", "version", "publisher", "origin", "tree_digest", "archive_digest", "skills", "files")
    assert [[row[key] for key in same] for row in planned["items"]] == [
        [row[key] for key in same] for row in done["items"]
    ]
    assert [row["action"] for row in planned["items"]] == ["would install", "would install"]
    assert all(row["download_size"] > row["size"] > 0 for row in planned["plan"])


def test_a_plan_ends_with_what_it_comes_to(shell: Shell) -> None:
    publish(shell, "kit")
    publish(shell, "app", "1.0.0", "kit")
    last = shell("install", "app", "--dry-run").out.splitlines()[-1]
    assert last.startswith("2 to install: ") and "to download" in last and "on disk" in last
    shell("install", "app")
    assert shell("install", "app", "--dry-run").out.splitlines()[-1].startswith("2 to keep: 0 B to download")


def test_permissions_that_widen_are_named_before_and_after(shell: Shell) -> None:
    publish(shell, "app", "1.0.0", env_allow=["HOME"])
    shell("install", "app")
    publish(shell, "app", "1.1.0", env_allow=["HOME", "API_KEY"], skill_class="mutating")
    planned = shell("upgrade", "--dry-run", "--json").json["plan"]
    assert [(one["skill"], one["kind"]) for one in planned[0]["widens"]] == [("app", "class"), ("app", "env")]
    text = shell("upgrade", "--dry-run").out
    assert "  widens: app rises from safe to mutating" in text
    assert "  widens: app may now read API_KEY from the environment" in text
    ran = shell("upgrade", "--json").json
    assert ran["plan"] == planned and ran["items"][0]["action"] == "upgraded"


def test_a_new_program_widens(shell: Shell) -> None:
    publish(shell, "app", "1.0.0")
    shell("install", "app")
    publish(shell, "app", "1.1.0", entry="run.sh")
    assert "  widens: app now runs run.sh" in shell("upgrade").out


def test_an_index_that_answers_with_another_pack_is_not_believed(shell: Shell) -> None:
    publish(shell, "app")
    publish(shell, "evil")
    evil = shell.index.get_json("http://index.test/v1/packs/evil/index.json")
    shell.index.change_answer = lambda path, value: evil if path.startswith("/v1/packs/app/") else value
    assert "answers with 'evil'" in shell("install", "app", expect=5).err


def test_an_uninstall_says_who_still_requires_it(shell: Shell) -> None:
    publish(shell, "kit")
    publish(shell, "app", "1.0.0", "kit>=1")
    shell("install", "app")
    assert "app requires kit>=1, which would be gone" in shell("uninstall", "kit", "--dry-run").err
    ran = shell("uninstall", "kit", "--json")
    assert ran.json["missing_requires"] == [{"name": "app", "requires": "kit>=1"}] and "is gone" in ran.err
    assert shell("uninstall", "app", "--json").json["missing_requires"] == []


def test_an_index_that_plays_a_skill_down_is_not_believed(shell: Shell) -> None:
    publish(shell, "app", skill_class="dangerous")

    def answer(path: str, value: object) -> object:
        text = json.dumps(value)
        return json.loads(text.replace('"dangerous"', '"safe"')) if path.endswith("/1.0.0/index.json") else value

    shell.index.change_answer = answer
    assert "app rises from safe to dangerous" in shell("install", "app", expect=5).err
    assert installed(shell) == {}


def test_a_rollback_and_a_sync_say_what_no_deps_left_out_as_the_install_did(shell: Shell) -> None:
    said = "app requires kit>=2, which is not installed: `market install 'kit>=2'`"
    rows = [{"name": "app", "requires": "kit>=2"}]
    publish(shell, "app", "1.0.0", "kit>=2")
    assert said in shell("install", "app", "--no-deps", "--lock", "market.lock").out
    publish(shell, "app", "2.0.0")
    shell("install", "app@2.0.0")
    assert said in shell("rollback", "app").out
    assert shell("rollback", "app", "--json").json["missing_requires"] == []
    shell("rollback", "app")
    assert said in shell("sync").out
    assert shell("sync", "--json").json["missing_requires"] == rows
    publish(shell, "kit", "2.0.0")
    shell("install", "kit")
    assert shell("sync", "--json").json["missing_requires"] == []


def test_of_a_wheel_a_rollback_and_a_sync_say_what_no_deps_left_out(shell: Shell) -> None:
    said = "\n  installed with --no-deps: helper>=1 is missing\n"
    shell("install", write_wheel(shell.folder, a_code_wheel(requires=("helper>=1",))), "--no-deps", "--lock", "bare.lock")
    shell("install", write_wheel(shell.folder, a_code_wheel(version="2.0.0"), version="2.0.0"))
    assert said in shell("sync", "bare.lock", "--dry-run").out.replace("\n    ", "\n  ")
    assert said in shell("rollback").out
    shell("rollback")
    assert said in shell("sync", "bare.lock").out
    shell("rollback")
    (item,) = shell("rollback", "--json").json["items"]
    assert (item["left_out"], item["dependencies"]) == (["helper>=1"], [])
