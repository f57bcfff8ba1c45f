"""Cases of installed packs: local edits, one name in several packs and roots, links inside roots."""

from __future__ import annotations

import json
import logging
import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from market.model import State
from market.registry.links import LinkedFolders
from market.registry.loader import Loader
from market.registry.registry import Registry
from tests.cases.road import skill_md
from tests.factories import RUN_SCRIPT
from tests.host.hosts import MARKET, environment, start_host
from tests.registry.trees import a_command_folder, write_tree

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.cases.road import Road

pytestmark = pytest.mark.flow


def two_versions(road: Road) -> None:
    for version, word in (("1", "one"), ("2", "two")):
        road.put(f"v{version}/SKILL.md", skill_md("edit-me", body=f"# {word}\n", extra=f'version: "{version}.0.0"\n'))
        road.put(f"v{version}/references/a.md", f"{word}\n")
        road.put(f"v{version}/scripts/run.sh", f"#!/bin/sh\necho {word}\n", executable=True)
    road.put("v1/references/removed-in-v2.md", "old\n")


def test_local_edits_update_of_a_clean_install(road: Road) -> None:
    two_versions(road)
    road.shell("install", "./v1")
    assert road.shell("list", "--json").json["items"][0]["state"] == "live"
    assert "upgraded" in road.shell("install", "./v2").out
    assert set(road.installed()) == {"edit-me/SKILL.md", "edit-me/references/a.md", "edit-me/scripts/run.sh"}


def test_local_edits_update_of_an_edited_one(road: Road) -> None:
    two_versions(road)
    road.shell("install", "./v1")
    pack = road.shell.root / "edit-me"
    with (pack / "SKILL.md").open("a") as guide:
        guide.write("my local rule\n")
    (pack / "references/local.md").write_text("mine\n")
    (pack / "notes").mkdir()
    (pack / "scripts/run.sh").chmod(0o644)
    before = {path: file.read_bytes() for path, file in road.installed().items()}
    ran = road.shell("install", "./v2", expect=4)
    assert all(name in ran.err for name in ("SKILL.md", "references/local.md", "scripts/run.sh"))
    assert {path: file.read_bytes() for path, file in road.installed().items()} == before
    assert road.shell("list", "--json").json["items"][0]["state"] == "edited"
    done = road.shell("install", "./v2", "--force")
    assert "backup" in done.out and "upgraded" in done.out
    assert b"two" in (pack / "SKILL.md").read_bytes()
    kept = [path.read_bytes() for path in road.shell.root.rglob("local.md")]
    assert kept == [b"mine\n"]


def edited_files(road: Road) -> list[str]:
    """What `list` says of the only pack's edits, and `verify` too."""
    (row,) = road.shell("verify", "--json", expect=None).json["items"]
    listed = road.shell("list", "--json").json["items"][0]
    assert listed["state"] == ("edited" if row["state"] == "edited" else "live")
    files: list[str] = sorted((*row["changed"], *row["added"], *row["missing"]))
    return files


@pytest.mark.parametrize(
    ("edit", "files"),
    [
        (lambda pack: (pack / "notes").mkdir(), ["notes/"]),
        (lambda pack: (pack / "references/a/b").mkdir(parents=True), ["references/a/", "references/a/b/"]),
        (lambda pack: (pack / "scripts/run.sh").chmod(0o644), ["scripts/run.sh"]),
        (lambda pack: (pack / "SKILL.md").chmod(0o755), ["SKILL.md"]),
        (lambda pack: (pack / "references/local.md").write_text("mine"), ["references/local.md"]),
        (lambda pack: (pack / "references/a.md").unlink(), ["references/a.md"]),
    ],
    ids=["empty-folder", "empty-folders", "lost-bit", "new-bit", "new-file", "gone-file"],
)
def test_local_edits_update_what_counts_as_an_edit(
    road: Road, edit: Callable[[Path], object], files: list[str]
) -> None:
    two_versions(road)
    road.shell("install", "./v1")
    assert edited_files(road) == []
    edit(road.shell.root / "edit-me")
    assert edited_files(road) == files
    ran = road.shell("install", "./v2", expect=4)
    assert all(file in ran.err for file in files)
    done = road.shell("install", "./v2", "--force")
    assert "backup" in done.out
    assert edited_files(road) == []
    road.shell("uninstall", "edit-me")
    road.shell("install", "./v1")
    assert edited_files(road) == []


def test_local_edits_update_reading_and_touching_are_no_edits(road: Road) -> None:
    two_versions(road)
    road.shell("install", "./v1")
    for file in road.installed().values():
        file.read_bytes()
        os.utime(file, (1, 1))
    assert edited_files(road) == []
    assert "upgraded" in road.shell("install", "./v2").out


def test_local_edits_update_verify_reads_the_files_again(road: Road) -> None:
    """An edit that keeps size and time is what a look at the directory can't see."""
    two_versions(road)
    road.shell("install", "./v1")
    file = road.shell.root / "edit-me/references/a.md"
    before = file.stat()
    file.write_text("two\n")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    ran = road.shell("verify", "--json", expect=None)
    assert ran.json["items"][0]["changed"] == ["references/a.md"] and ran.code == 5


def collections(road: Road) -> None:
    for pack, place in (("p1", "staging"), ("p2", "production"), ("p3", "staging")):
        road.put(f"{pack}/skills/deploy/SKILL.md", skill_md("deploy", f"Deploys to {place}."))


def test_duplicate_names_in_packs(road: Road) -> None:
    collections(road)
    for pack in ("p2", "p1"):
        road.shell("install", f"./{pack}", "--name", pack, "--version", "1.0.0")
    states = {skill.pack: (skill.key, skill.state) for skill in road.skills()}
    assert states["p1"] == ("deploy", State.LIVE)
    assert states["p2"][1] is State.SHADOWED and states["p2"][0] == "p2:deploy"
    road.shell("uninstall", "p1")
    assert {skill.pack: skill.state for skill in road.skills()} == {"p2": State.LIVE}
    assert "p2/skills/deploy/SKILL.md" in road.installed()


def test_duplicate_names_a_taken_name_is_told_before_anything_is_written(road: Road) -> None:
    collections(road)
    road.shell("install", "./p2", "--name", "p2", "--version", "1.0.0")
    before = road.installed()
    for pack, line in (
        ("p1", "warning: deploy is a skill of p2 too: p1 takes it from p2, whose own is p2:deploy"),
        ("p4", "warning: deploy is a skill of p2 too: p2 keeps it from p4, whose own is p4:deploy"),
    ):
        options = ("./p1", "--name", pack, "--version", "1.0.0")
        dry = road.shell("install", *options, "--dry-run")
        assert line in dry.out and road.installed() == before
        (row,) = road.shell("install", *options, "--dry-run", "--json").json["plan"]
        assert row["taken"] == [{"skill": "deploy", "pack": "p2", "wins": pack == "p1"}]
    ran = road.shell("install", "./p1", "--name", "p1", "--version", "1.0.0")
    assert "p1 takes it from p2" in ran.err
    # p3 is p1 to the last byte.
    assert "warning" not in road.shell("install", "./p3", "--name", "p3", "--version", "1.0.0").err


def test_duplicate_names_packs_that_arrive_together(road: Road) -> None:
    collections(road)
    for pack in ("p1", "p2"):
        road.put(f"{pack}/pack.yaml", f"name: {pack}\nversion: 1.0.0\n")
    ran = road.shell("install", "./p2", "./p1")
    assert "p1 keeps it from p2, whose own is p2:deploy" in ran.err and ran.err.count("warning") == 1


def test_duplicate_names_an_identical_copy_collapses_without_a_warning(
    road: Road, caplog: pytest.LogCaptureFixture
) -> None:
    """It is told as an event at level INFO, and stands in lists as shadowed; only p2, which differs, is warned of."""
    collections(road)
    for pack in ("p1", "p2", "p3"):
        road.shell("install", f"./{pack}", "--name", pack, "--version", "1.0.0")
    with caplog.at_level(logging.INFO, "market.registry"):
        registry = road.registry()
    levels = {row.getMessage().split("/")[-4]: row.levelname for row in caplog.records if "already" in row.getMessage()}
    assert levels == {"p2": "WARNING", "p3": "INFO"}
    winner = f"{road.shell.root}/p1/skills/deploy/SKILL.md"
    shadowed = {skill.key: skill.shadowed_by for skill in registry.snapshot.all_skills() if skill.shadowed_by}
    assert shadowed == {"p2:deploy": winner, "p3:deploy": winner}


def test_duplicate_names_in_roots(road: Road) -> None:
    roots: list[Path] = []
    for name in ("system", "team", "user"):
        road.put(f"roots/{name}/setup/SKILL.md", skill_md("setup", f"{name} copy."))
        roots.append(road.folder / "roots" / name)
    for order in (roots, roots[::-1]):
        (winner,) = [skill for skill in road.skills(*order) if skill.state is not State.SHADOWED]
        assert winner.skill.description == f"{order[0].name} copy."


def linked_roots(road: Road) -> tuple[Path, Path]:
    road.put("roots/a/plain/SKILL.md", skill_md("plain"))
    road.put("roots/b/shared/SKILL.md", skill_md("shared"))
    road.put("outside/secret-skill/SKILL.md", skill_md("secret-skill"))
    road.put("roots/a-evil/near/SKILL.md", skill_md("near"))
    road.put("outside/doc.md", skill_md("linked-file"))
    (road.folder / "roots/a/linked-file").mkdir()
    links = {
        "inside": "../b/shared", "escape": "../../outside/secret-skill", "dangling": "../b/not-there", "self": "self", "loop": "../a",
        "linked-file/SKILL.md": "../../../outside/doc.md", "prefix": "../a-evil/near",
    }  # fmt: skip
    for name, target in links.items():
        (road.folder / "roots/a" / name).symlink_to(target)
    return road.folder / "roots/a", road.folder / "roots/b"


def test_symlinked_skill_dir(road: Road, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "market.registry"):
        registry = road.registry(*linked_roots(road))
    told = [row.getMessage() for row in caplog.records if row.levelno == logging.WARNING]
    roots, outside = road.folder / "roots", road.folder / "outside"
    leaves, allow = "it is a link that leaves the root, to", "allow it with --link-target or MARKET_HOST_LINK_TARGETS"
    causes = {
        "dangling": f"it is a dangling link: {roots}/b/not-there is not there (folder-link-broken)",
        "escape": f"{leaves} {outside}/secret-skill (folder-link-outside): name that folder as a root, or {allow}",
        "linked-file/SKILL.md": f"{leaves} {outside}/doc.md (folder-link-outside): name that folder as a root, or {allow}",
        "loop": f"it is a link to {roots}/a, a folder above it (folder-link-loop)",
        "prefix": f"{leaves} {roots}/a-evil/near (folder-link-outside): name that folder as a root, or {allow}",
        "self": "it is a link that leads back to itself (folder-link-broken)",
    }
    assert {row.path for row in registry.snapshot.dropped()} == {f"{roots}/a/{name}" for name in causes}
    assert len(told) == len(causes)
    for name, cause in causes.items():
        assert any(line.startswith(f"skill loader: parse {roots}/a/{name}: {cause}") for line in told), (name, told)
    caplog.clear()
    for _ in range(3):
        skills = registry.snapshot.skills.values()
        shared = [skill for skill in skills if skill.skill.name == "shared" and skill.is_runnable]
        assert [skill.state for skill in skills if skill.skill.name == "plain"] == [State.UNMANAGED]
        assert len([skill for skill in shared if skill.state is not State.SHADOWED]) == 1
        assert sorted(skill.skill.name for skill in skills) == ["plain", "shared"]
        registry.rescan()
    assert caplog.messages == []


def test_symlinked_skill_dir_the_allowed_one_is_followed(road: Road) -> None:
    """Also where a link was there before: the setting is read at the start. Links elsewhere stay refused."""
    roots = tuple(str(root) for root in linked_roots(road))
    targets = (str(road.folder / "outside"),)
    registry = Registry(roots, Loader(link_targets=targets).load, LinkedFolders(roots, targets).find)
    registry.load()
    keys = {skill.key: skill.unit for skill in registry.snapshot.all_skills()}
    assert keys == {
        "linked-file": f"{roots[0]}/linked-file",
        "plain": f"{roots[0]}/plain",
        "secret-skill": f"{road.folder}/outside/secret-skill",
        "shared": f"{roots[1]}/shared",
    }
    refused = {Path(row.path).name for row in registry.snapshot.dropped()}
    assert refused == {"dangling", "loop", "prefix", "self"}
    before = registry.snapshot
    registry.rescan()
    assert registry.snapshot is before
    Path(roots[0], "escape").unlink()
    registry.rescan()
    assert registry.snapshot.find("secret-skill") is None


def test_symlinked_skill_dir_in_a_host_and_in_run(tmp_path: Path) -> None:
    """A command behind a link runs, and the guide behind one is served; entries outside the allowed folder still don't."""
    store = tmp_path / "store"
    a_command_folder(store / "tool", name="tool")
    a_command_folder(store / "escapes", name="escapes", entry="../../run.sh")
    write_tree(tmp_path, {"run.sh": RUN_SCRIPT, "store/doc.md": skill_md("written")})

    def fill(root: Path) -> None:
        for name in ("tool", "escapes"):
            (root / name).symlink_to(store / name)
        (root / "written").mkdir()
        (root / "written/SKILL.md").symlink_to(store / "doc.md")

    with start_host(tmp_path, fill=fill, flags=("--link-target", str(store))) as host:
        assert host.skill_keys() == ["tool", "written"]
        assert host.execute("tool", {"a": 1}).json()["result"] == {"a": 1}
        assert "name: written" in host.ask("GET", "/v1/skills/written/files/SKILL.md").text
        (dropped,) = host.get("/v1/skills?state=invalid")["items"]
        assert "escapes" in str(dropped)
    environ = environment(host.home, MARKET_HOST_LINK_TARGETS=str(store))
    command = [MARKET, "run", "tool", "--args", '{"b": 2}', "--root", str(host.root)]
    ran = subprocess.run(command, env=environ, capture_output=True, text=True, check=True, timeout=30)
    assert json.loads(ran.stdout) == {"b": 2}


def test_symlinked_skill_dir_in_a_folder_that_is_published(road: Road) -> None:
    linked_roots(road)
    problems = {
        problem["file"]: problem["rule"]
        for problem in road.check("./roots/a", "--version", "1.0.0")["problems"]
        if problem["rule"].startswith("folder-link")
    }
    assert problems == {
        "inside": "folder-link-outside", "escape": "folder-link-outside", "prefix": "folder-link-outside", "linked-file/SKILL.md": "folder-link-outside",
        "dangling": "folder-link-broken", "self": "folder-link-broken", "loop": "folder-link-loop",
    }  # fmt: skip
    road.everywhere_refused("./roots/a")
