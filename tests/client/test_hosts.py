from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, BinaryIO

import pytest

from market.client.host_client import HostClient, await_pack
from market.client.running_hosts import RunningHost, load_admin_token, load_running_hosts
from market.disk.home import Home
from market.errors import NotFound, Unavailable

if TYPE_CHECKING:
    from pathlib import Path

URL = "http://127.0.0.1:8751"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    made = Home(tmp_path)
    made.running_hosts.mkdir()
    made.host_admin_token.write_text("skh_admin\n")
    return made


def note(home: Home, pid: int, content: object = None, url: str = URL, root: str = "/srv/skills") -> None:
    fields = {"pid": pid, "url": url, "roots": [root]}
    (home.running_hosts / f"{pid}.json").write_text(json.dumps(fields) if content is None else str(content))


def a_dead_pid() -> int:
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    return child.pid


def test_only_living_hosts_count(home: Home) -> None:
    note(home, os.getpid())
    note(home, a_dead_pid())
    assert load_running_hosts(home) == (RunningHost(os.getpid(), URL, ("/srv/skills",)),)


@pytest.mark.parametrize(
    "content", ["", "[]", "{", '{"pid": "x", "url": "u", "roots": []}', '{"pid": 1, "url": "nonsense", "roots": []}']
)
def test_a_file_that_can_t_be_read_is_no_host(home: Home, content: str) -> None:
    note(home, os.getpid(), content)
    assert load_running_hosts(home) == ()


def test_no_folder_means_no_host(tmp_path: Path) -> None:
    assert load_running_hosts(Home(tmp_path / "nothing")) == ()


def test_a_root_is_recognised_through_links(home: Home, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    host = RunningHost(1, URL, (str(tmp_path / "link"),))
    assert host.find_root(tmp_path / "real") == str(tmp_path / "link")
    assert host.find_root(tmp_path) == ""


def test_the_own_token_goes_to_running_hosts_only(home: Home) -> None:
    assert load_admin_token(home, URL) == ""
    note(home, os.getpid())
    assert load_admin_token(home, f"{URL}/") == "skh_admin"
    assert load_admin_token(home, "http://127.0.0.1:9999") == ""
    assert load_admin_token(home, "http://host.example:8751") == ""


def a_skill(**changes: object) -> dict[str, object]:
    skill: dict[str, object] = {
        "key": "echo",
        "name": "echo",
        "description": "",
        "class": "safe",
        "kind": "command",
        "pack": "my-pack",
    }
    return {**skill, "version": "1.0.0", "state": "live", "root": "/r", "later": "field", **changes}


@dataclass
class FakeHost:
    """A host whose list of skills changes with every look; the last one stays."""

    looks: list[list[dict[str, object]]] = field(default_factory=lambda: [[a_skill()]])
    bodies: list[object] = field(default_factory=list)
    answer: object = None

    def get_json(self, url: str, token: str = "") -> object:
        rows = self.looks.pop(0) if len(self.looks) > 1 else self.looks[0]
        return self.answer if self.answer is not None else {"items": rows, "total": len(rows)}

    def post_json(self, url: str, body: object, token: str = "") -> object:
        self.bodies.append((url, body))
        return {"kind": "ok", "result": {"x": 1}, "duration_ms": 2.0, "exit_code": 0}

    def put(self, url: str, stream: BinaryIO, size: int, token: str, content_type: str) -> object:
        self.bodies.append((url, stream.read()))
        return {"name": "my-pack", "version": "1.0.0", "action": "installed"}

    def download(self, url: str, token: str, out: BinaryIO, limit_bytes: int) -> int:
        raise NotFound(url)

    def delete_json(self, url: str, token: str = "") -> object:
        raise NotFound(url)


def test_the_skills_of_one_pack() -> None:
    host = FakeHost([[a_skill(), a_skill(pack="other")]])
    (skill,) = HostClient(host, URL).skills("my-pack")
    assert (skill.key, skill.skill_class, skill.version) == ("echo", "safe", "1.0.0")


def test_a_call_is_posted_under_its_key() -> None:
    host = FakeHost()
    assert HostClient(host, URL).execute("pack:echo", {"a": 1}).result == {"x": 1}
    assert host.bodies == [(f"{URL}/v1/skills/pack:echo/execute", {"params": {"a": 1}})]


@pytest.mark.parametrize("answer", [[], {"items": 1}, {"items": [{}], "total": 1}, {"items": [], "total": None}])
def test_an_answer_of_another_shape_says_so(answer: object) -> None:
    with pytest.raises(Unavailable, match="something else than Market's protocol"):
        HostClient(FakeHost(answer=answer), URL).skills()


def ticks() -> list[float]:
    return []


def test_waiting_ends_when_the_version_is_there_and_the_old_one_gone() -> None:
    old, new = a_skill(version="1.0.0"), a_skill(version="2.0.0")
    host, slept = FakeHost([[], [old], [old, new], [new]]), ticks()
    standing = await_pack(HostClient(host, URL), "my-pack", "2.0.0", "/r", sleep=slept.append)
    assert standing.reached and [skill.version for skill in standing.skills] == ["2.0.0"]
    assert len(slept) == 3


def test_the_same_pack_in_another_root_does_not_count() -> None:
    host, clock = FakeHost([[a_skill(root="/other")]]), iter([0.0, 1.0, 99.0])
    standing = await_pack(
        HostClient(host, URL), "my-pack", "1.0.0", "/r", sleep=ticks().append, clock=lambda: next(clock)
    )
    assert not standing.reached


def test_waiting_for_a_pack_to_be_gone() -> None:
    host = FakeHost([[a_skill()], []])
    assert await_pack(HostClient(host, URL), "my-pack", "", "/r", sleep=ticks().append).reached
