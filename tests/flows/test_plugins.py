"""The first-party plugins as a user has them: built, installed beside the built product, and at work in its programs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.factories import RUN_SCRIPT, a_skill_json
from tests.flows.processes import REPOSITORY, World

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.flow

UV = str(Path(sys.executable).with_name("uv"))
PLUGINS = ("market-audit-jsonl", "market-policy-allowlist", "market-scan-secrets")
# Put together here, so that no scanner takes this file for a leak.
TOKEN = "ghp_" + "q8Zr4Kd0VbN1mXw7Lc3Ty6Ho2Sj9Pf5GuEaI"


@pytest.fixture(scope="module")
def market(tmp_path_factory: pytest.TempPathFactory) -> str:
    """An environment with the product's wheel and the plugins' wheels, and nothing of this checkout."""
    folder = tmp_path_factory.mktemp("plugged")
    for path in (REPOSITORY, *(REPOSITORY / "plugins" / name for name in PLUGINS)):
        subprocess.run(
            [UV, "build", "--quiet", "--wheel", "--no-build-isolation", "--out-dir", folder / "dist", path], check=True
        )
    (product,) = (folder / "dist").glob("skill_market-*.whl")
    plugins = [wheel for wheel in (folder / "dist").glob("*.whl") if wheel != product]
    assert len(plugins) == len(PLUGINS)
    subprocess.run([UV, "venv", "--quiet", "--python", sys.executable, folder / "venv"], check=True)
    python, locked = folder / "venv/bin/python", REPOSITORY / "requirements/dev.txt"
    wanted = [f"skill-market[index,host] @ {product.as_uri()}", *map(str, plugins)]
    install = [UV, "pip", "install", "--quiet", "--python", str(python), "--constraint", str(locked), *wanted]
    subprocess.run(install, check=True)
    return str(folder / "venv/bin/market")


@pytest.fixture
def world(market: str, tmp_path: Path) -> World:
    (tmp_path / "home").mkdir()
    return World(tmp_path / "home", market=market)


@pytest.fixture
def home(world: World) -> Path:
    folder = world.home / "market"
    folder.mkdir()
    (folder / "policy-allowlist.toml").write_text("[install]\n[run]\n")
    return folder


def a_pack(world: World, name: str, text: str = "", **fields: object) -> Path:
    folder = world.home / name
    folder.mkdir()
    (folder / "skill.json").write_bytes(a_skill_json(name=name.replace("-", "_"), **fields))
    (folder / "run.sh").write_bytes(RUN_SCRIPT)
    (folder / "run.sh").chmod(0o755)
    if text:
        (folder / "notes.md").write_text(text)
    return folder


def lines_of(home: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (home / "audit.jsonl").read_text().splitlines()]


def test_they_are_found_by_their_entry_points(world: World, home: Path) -> None:
    rows = world.run("plugins", "list", "--json").json["items"]
    assert [(row["name"], row["distribution"], row["version"], row["state"]) for row in rows] == [
        (name, name, "0.1.0", "active") for name in PLUGINS
    ]


def found_by_the_plugin(answer: Any) -> list[dict[str, Any]]:
    """Its findings, without those of Market's own scan, which sees the same."""
    return [one for one in answer["error"]["problems"] if one["rule"].startswith("market-scan-secrets:")]


def test_a_secret_is_found_at_publish_and_at_install_with_its_place(world: World, home: Path) -> None:
    bad = a_pack(world, "leaky", f"# Notes\n\nuse {TOKEN}\n")
    ran = world.run("install", bad, "--json", expect=6)
    (problem,) = found_by_the_plugin(ran.json)
    assert (problem["rule"], problem["file"], problem["line"], problem["column"]) == (
        "market-scan-secrets:secret",
        "notes.md",
        3,
        5,
    )
    assert TOKEN not in ran.out
    with world.serve("index", "serve") as index:
        # What the author's own check lets pass is found by the index.
        ran = world.run("publish", bad, "--allow-secret", "notes.md:3", "--index", index["url"], "--json", expect=2)
        (problem,) = found_by_the_plugin(ran.json)
        assert (problem["rule"], problem["file"], problem["line"]) == ("market-scan-secrets:secret", "notes.md", 3)
        world.run("publish", a_pack(world, "clean"), "--index", index["url"])
    assert [(line["event"], line["pack"]) for line in lines_of(home)] == [("publish", "clean")]


def test_the_list_decides_what_is_installed_and_run(world: World, home: Path) -> None:
    policy = home / "policy-allowlist.toml"
    policy.write_text('[install]\npacks = ["good-*"]\nclasses = ["safe", "mutating"]\n[run]\nclasses = ["safe"]\n')
    good, other, mutating = (
        a_pack(world, "good-one"),
        a_pack(world, "other"),
        a_pack(world, "good-two", **{"class": "mutating"}),
    )
    world.run("install", good)
    assert "the pack other is not on the list" in world.run("install", other, expect=6).err
    world.run("install", mutating)
    world.run("run", "good_one")
    assert "class mutating are not on the list" in world.run("run", "good_two", expect=6).err
    policy.write_text("[instal]\n")
    assert "market-policy-allowlist" in world.run("run", "good_one", expect=6).err


def test_a_host_obeys_and_tells(world: World, home: Path) -> None:
    world.run("install", a_pack(world, "good-one"))
    with world.serve("host", "serve") as host:
        world.run("run", "good_one", "--host", host["url"], "--args", '{"a": 1}')
        (home / "policy-allowlist.toml").write_text('[install]\n[run]\npacks = ["nothing"]\n')
        assert "market-policy-allowlist" in world.run("run", "good_one", "--host", host["url"], expect=6).err
        world.run("archive", a_pack(world, "sent"), "-o", "sent.zip")
        world.run("upload", "sent.zip", "--host", host["url"])
    found = [(line["event"], line["pack"], line.get("outcome", ""), line.get("road", "")) for line in lines_of(home)]
    assert found == [
        ("install", "good-one", "", ""),
        ("run", "good-one", "ok", "http"),
        ("run", "good-one", "denied", "http"),
        ("install", "sent", "", ""),
    ]


def test_one_that_is_switched_off_is_silent(world: World, home: Path) -> None:
    (home / "policy-allowlist.toml").unlink()
    pack = a_pack(world, "good-one")
    assert "policy-allowlist.toml" in world.run("install", pack, expect=6).err
    world.run("plugins", "disable", "market-policy-allowlist")
    world.run("plugins", "disable", "market-audit-jsonl")
    world.run("install", pack)
    assert not (home / "audit.jsonl").exists()


@pytest.fixture
def broken(market: str) -> Iterator[None]:
    """A fourth plugin with a hook that is spelt wrong."""
    packages = next(Path(market).parents[1].glob("lib/python*/site-packages"))
    module, metadata = packages / "broken_plugin.py", packages / "broken_plugin-1.0.dist-info"
    module.write_text("from market.hookspecs import hookimpl\n@hookimpl\ndef decide_rum(target): ...\n")
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: broken-plugin\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[market]\nbroken-plugin = broken_plugin\n")
    yield
    for path in (module, metadata / "METADATA", metadata / "entry_points.txt"):
        path.unlink()
    metadata.rmdir()


@pytest.mark.usefixtures("broken", "home")
def test_no_program_starts_with_a_broken_plugin_and_each_says_which(world: World) -> None:
    for arguments in (
        ["install", a_pack(world, "good-one")],
        ["run", "./good-one"],
        ["index", "serve"],
        ["host", "serve"],
    ):
        ran = world.run(*arguments, expect=8)
        assert "the plugin broken-plugin can't be used" in ran.err
        assert "there is no hook decide_rum; did you mean decide_run?" in ran.err
        assert "market plugins disable broken-plugin" in ran.err
    world.run("plugins", "disable", "broken-plugin")
    world.run("install", "./good-one")
