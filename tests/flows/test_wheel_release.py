"""The life of a wheel pack: published, installed by name into a running host, upgraded, rolled back without a network, removed."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

import pytest

from tests.flows.processes import World
from tests.wheels import a_code_wheel, a_wheel, write_wheel

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.flow

CODE = "import helper\ndef echo_py():\n    return ['{version}', helper.X]\n"


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def test_a_wheel_pack_from_publish_to_uninstall(world: World) -> None:
    house = world.home / "house"
    write_wheel(house, a_wheel({"helper/__init__.py": "X = 7\n"}, name="helper"), "helper")
    uv = {"UV_OFFLINE": "1", "UV_NO_CACHE": "1", "UV_FIND_LINKS": str(house)}
    wheels = [
        write_wheel(world.home / "dist", a_code_wheel(CODE, version=version, requires=("helper",)), version=version)
        for version in ("1.0.0", "1.1.0")
    ]
    with world.serve("index", "serve"):
        world.run("upload", wheels[0])
        with world.serve("host", "serve"):
            installed = world.run("install", "demo-pack", "--json", environment=uv).json
            (item,) = installed["items"]
            assert (item["version"], item["action"]) == ("1.0.0", "installed")
            assert item["origin"]["kind"] == "index"
            assert ".site/helper/__init__.py" in [file["path"] for file in item["files"]]
            assert installed["hosts"][0]["reached"]
            assert world.run("run", "echo_py").json == ["1.0.0", 7]
            again = world.run("install", "demo-pack", "--json", environment=uv).json
            assert all(one["action"] == "unchanged" for one in again["items"])
            world.run("upload", wheels[1])
            world.run("upgrade", "demo-pack", environment=uv)
            assert world.run("run", "echo_py").json == ["1.1.0", 7]
            world.run("rollback", "demo-pack")
            assert world.run("run", "echo_py").json == ["1.0.0", 7]
            assert world.run("verify", "demo-pack", "--json").json
            for words, action in (((), "keep"), (("--no-deps",), "reinstall"), (("--refresh-deps",), "reinstall")):
                assert planned(world, "demo-pack@1.0.0", *words) == [f"would {action}"]
            world.run("install", "demo-pack@1.0.0", "--no-deps", "--refresh-deps")
            for words, action in (((), "reinstall"), (("--no-deps",), "keep")):
                assert planned(world, "demo-pack@1.0.0", *words) == [f"would {action}"]
            world.run("uninstall", "demo-pack")
            world.run("run", "echo_py", expect=3)


def planned(world: World, *words: str) -> list[str]:
    ran = world.run("install", *words, "--dry-run", "--json", environment={"UV_OFFLINE": "1"})
    return [str(one["action"]) for one in ran.json["items"]]


def test_a_dependency_that_is_nowhere_leaves_nothing_behind(world: World) -> None:
    wheel = write_wheel(world.home / "dist", a_code_wheel(requires=("nowhere-to-be-found",)))
    ran = world.run("install", wheel, "--json", expect=7, environment={"UV_OFFLINE": "1"})
    assert "demo-pack" in ran.json["error"]["message"]
    assert "nowhere-to-be-found" in ran.json["error"]["why"]
    root = world.home / "market" / "skills"
    assert not root.exists() or [name for name in os.listdir(root) if name != ".market"] == []


def test_a_pack_that_needs_another_python_is_refused_by_name(world: World) -> None:
    wheel = write_wheel(world.home / "dist", a_code_wheel(metadata="Requires-Python: >=99\n"))
    ran = world.run("install", wheel, "--json", expect=None)
    assert ran.code not in (0, 70)
    assert "demo-pack" in ran.json["error"]["message"]
    assert ">=99" in str(ran.json["error"])


def test_a_lock_file_pins_a_wheel_with_what_it_depends_on(world: World) -> None:
    house = world.home / "house"
    write_wheel(house, a_wheel({"helper/__init__.py": "X = 7\n"}, name="helper"), "helper")
    uv = {"UV_OFFLINE": "1", "UV_NO_CACHE": "1", "UV_FIND_LINKS": str(house)}
    wheel = write_wheel(world.home / "dist", a_code_wheel(CODE, requires=("helper",)))
    project = world.home / "project"
    project.mkdir()
    with world.serve("index", "serve"):
        world.run("upload", wheel)
        world.run("install", "demo-pack", "--lock", environment=uv, cwd=project)
        other = world.home / "other-root"
        first = world.run("install", "--locked", "--root", other, "--json", environment=uv, cwd=project).json
        assert [(one["name"], one["action"]) for one in first["items"]] == [("demo-pack", "installed")]
        newer = a_wheel({"helper/__init__.py": "X = 8\n"}, name="helper", version="2.0.0")
        write_wheel(house, newer, "helper", "2.0.0")
        # What is installed stays as it is, also without a network, and where the lock file mustn't change.
        again = world.run("install", "demo-pack", "--frozen", "--json", environment={"UV_OFFLINE": "1"}, cwd=project)
        assert [(one["action"], one["dependencies"]) for one in again.json["items"]] == [
            ("unchanged", [{"name": "helper", "version": "1.0.0"}])
        ]
        third = world.home / "third-root"
        locked = (project / "market.lock").read_bytes()
        for command in (("install", "--locked"), ("sync",)):
            world.run(*command, "--root", third, environment=uv, cwd=project)
            assert (third / "demo-pack" / ".site" / "helper" / "__init__.py").read_text() == "X = 7\n"
        world.run("install", "demo-pack", "--refresh-deps", "--frozen", expect=4, environment=uv, cwd=project)
        refreshed = world.run("install", "demo-pack", "--refresh-deps", "--json", environment=uv, cwd=project).json
        assert [(one["action"], one["dependencies"]) for one in refreshed["items"]] == [
            ("reinstalled", [{"name": "helper", "version": "2.0.0"}])
        ]
        assert (project / "market.lock").read_bytes() != locked
        world.run("rollback", "demo-pack")
        assert world.run("run", "echo_py").json == ["1.0.0", 7]
        (project / "market.lock").write_bytes(locked)
        assert world.run("sync", "--json", environment={"UV_OFFLINE": "1"}, cwd=project).json["same"] == ["demo-pack"]
        # A file of the same name and version with other bytes isn't what was locked.
        write_wheel(house, a_wheel({"helper/__init__.py": "X = 666\n"}, name="helper"), "helper")
        fourth = world.home / "fourth-root"
        ran = world.run("sync", "--root", fourth, "--json", expect=5, environment=uv, cwd=project)
        assert "helper" in ran.json["error"]["why"]
        world.run("uninstall", "demo-pack")


def test_a_lock_file_is_restored_without_its_archive_and_another_tree_of_the_same_parts_counts_as_the_same(
    world: World,
) -> None:
    house = world.home / "house"
    write_wheel(house, a_wheel({"helper/__init__.py": "X = 7\n"}, name="helper"), "helper")
    uv = {"UV_OFFLINE": "1", "UV_NO_CACHE": "1", "UV_FIND_LINKS": str(house)}
    wheel = write_wheel(world.home / "dist", a_code_wheel(CODE, requires=("helper",)))
    lock = world.home / "market.lock"
    world.run("install", wheel, "--lock", environment=uv)
    # As another machine would have written it: with platform wheels the tree, and the archive, may be others.
    text = lock.read_text()
    for field in ("tree", "archive"):
        text = re.sub(rf'(?m)^{field} = ".*"$', f'{field} = "sha256:{"0" * 64}"', text)
    lock.write_text(text)
    assert world.run("sync", "--json", environment={"UV_OFFLINE": "1"}).json["same"] == ["demo-pack"]
    world.run("install", "--locked", environment={"UV_OFFLINE": "1"})
    world.run("sync", "--root", "other", environment=uv)
    assert (world.home / "other" / "demo-pack" / ".site" / "helper" / "__init__.py").is_file()
    lock.write_text(re.sub("(?m)^release = .*$", f'release = "sha256:{"1" * 64}"', text))
    world.run("sync", "--root", "third", expect=4, environment=uv)


def test_a_bundle_has_a_wheel_with_what_it_depends_on_and_needs_no_network(world: World) -> None:
    house = world.home / "house"
    write_wheel(house, a_wheel({"helper/__init__.py": "X = 7\n"}, name="helper"), "helper")
    uv = {"UV_OFFLINE": "1", "UV_NO_CACHE": "1", "UV_FIND_LINKS": str(house)}
    with world.serve("index", "serve"):
        world.run("upload", write_wheel(world.home / "dist", a_code_wheel(CODE, requires=("helper",))))
        world.run("export", "demo-pack", "-o", "bundle.zip", environment=uv)
    world.run("import", "bundle.zip", environment={"UV_OFFLINE": "1"})
    assert world.run("run", "echo_py").json == ["1.0.0", 7]
