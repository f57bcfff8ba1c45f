"""Cases of publishing the same version again, and of searching."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

import pytest

from index.removal import delete_release
from market.names import parse_pack_name, parse_version
from tests.cases.road import skill_md
from tests.client.server import Answer, serve
from tests.factories import a_source
from tests.fake_index import FakeIndex
from tests.host.hosts import MARKET
from tests.index.builders import archive
from tests.web.asgi import call

if TYPE_CHECKING:
    from tests.cases.road import Road
    from tests.index.builders import AnIndex

pytestmark = pytest.mark.flow


@dataclass
class IndexBehindApp(FakeIndex):
    """The real index, for the command line's reads."""

    real: AnIndex = field(kw_only=True)

    def get_json(self, url: str, token: str = "") -> object:
        parts = urlsplit(url)
        return self.real.get(f"{parts.path}?{parts.query}").json


def a_guide_archive(
    name: str, description: str = "Adds. Use for sums.", body: str = "# Steps\n", version: str = "1.0.0"
) -> bytes:
    text = skill_md(name, description, extra=f'version: "{version}"\n', body=body)
    return archive(a_source({"SKILL.md": text.encode()}, name=name, executables=frozenset()))


def test_same_version_new_bytes(road: Road) -> None:
    first = road.upload(a_guide_archive("sum-kit"), "sum-kit")
    again = road.upload(a_guide_archive("sum-kit"), "sum-kit")
    other = road.upload(a_guide_archive("sum-kit", body="# Steps\n\nRound.\n"), "sum-kit")
    assert (first.status, again.status, other.status) == (201, 200, 409)
    assert (first.json["created"], again.json["created"], other.json["code"]) == (True, False, "conflict")
    stored = road.index.get("/v1/packs/sum-kit/1.0.0/index.json").json
    assert stored["tree_digest"] == first.json["tree_digest"]


def test_same_version_new_bytes_by_the_command_line(road: Road) -> None:
    for body in ("Add.\n", "Add, then round.\n"):
        road.put(f"{body[:4]}{len(body)}/SKILL.md", skill_md("sum-kit", extra='version: "1.0.0"\n', body=body))
    one, two = (f"./{path.name}" for path in sorted(road.folder.glob("Add*")))
    assert "published" in road.shell("publish", one).out
    assert "unchanged" in road.shell("publish", one).out
    assert "error" in road.shell("publish", two, expect=4).err
    assert road.shell("publish", two, "--token", "skm_wrong", expect=6).code == 6


def test_same_version_new_bytes_at_one_moment(road: Road) -> None:
    bodies = [a_guide_archive("race-kit", body=f"{letter}\n", version="1.0.1") for letter in "AB"]

    async def race() -> list[int]:
        headers = {"Authorization": f"Bearer {road.index.token}"}
        sent = (call(road.index.app, "PUT", "/v1/packs/race-kit/1.0.1", headers=headers, body=body) for body in bodies)
        return [answer.status for answer in await asyncio.gather(*sent)]

    assert sorted(asyncio.run(race())) == [201, 409]
    assert "race-kit" in {item["name"] for item in road.index.get("/v1/packs").json["items"]}


def test_same_version_new_bytes_each_failure_has_its_own_exit_code_and_nothing_waits_for_a_terminal(road: Road) -> None:
    """The shell's stdin is empty and no terminal; a rate limit says when to come back and what is left."""
    road.put("kit/SKILL.md", skill_md("sum-kit", extra='version: "1.0.0"\n'))
    road.put("other/SKILL.md", skill_md("sum-kit", extra='version: "1.0.0"\n', body="Round.\n"))
    assert road.shell("publish", "./kit").code == 0
    assert road.shell("publish", "./other", expect=4).code == 4
    assert road.shell("publish", "./kit", "--token", "skm_wrong", expect=6).code == 6
    limit = Answer(429, b"", {"Retry-After": "3600", "X-RateLimit-Remaining": "0"})
    with serve(lambda asked: limit) as server:
        ran = over_the_network(road, "publish", "./kit", "--index", server.url)
        assert ran.returncode == 9
        assert "try again in 3600 seconds" in ran.stderr and "requests left: 0" in ran.stderr
        ran = over_the_network(road, "publish", "./kit", "--index", server.url, "--json")
        assert json.loads(ran.stdout)["error"]["details"] == {"retry_after": "3600", "remaining": "0"}
    assert over_the_network(road, "publish", "./kit", "--index", server.url).returncode == 7


def over_the_network(road: Road, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A `market` of its own, with its stdin closed and the token from the environment."""
    environ = {"PATH": os.environ["PATH"], "MARKET_HOME": str(road.shell.home.path), "MARKET_TOKEN": road.index.token}
    return subprocess.run(
        [MARKET, *arguments],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, env=environ, cwd=road.folder, check=False,
    )  # fmt: skip


PACKS = {
    "self-improving-agent": "Keeps notes on its own mistakes.", "xu-self-improving-agent": "Keeps notes on its own mistakes, fork.", "self-improving-agent-cn": "同上 中文版",
    "self-improving-proactive-agent": "Self improving agent, self improving agent, self improving agent.", "wechat-pay": "微信支付 接入指引。Use for WeChat Pay.",
    "netdisk-storage": "Stores files on a network disk.", "checkpoint": "Saves a checkpoint of the work.", "c-plus-plus": "Rules for C++ code.", "pdf-tools": "Splits and joins PDF files.",
    "pdftools": "Another one, no hyphen.", "cafe-menu": "Reads a café menu (naïve layout).",
}  # fmt: skip


@pytest.fixture
def full(road: Road) -> Road:
    for name, description in PACKS.items():
        assert road.upload(a_guide_archive(name, f'"{description}"'), name).status == 201, name
    return road


def found(road: Road, query: str, limit: int = 50) -> list[str]:
    answer = road.index.get(f"/v1/search?q={quote(query)}&limit={limit}")
    assert answer.status == 200, answer.json
    return [item["name"] for item in answer.json["items"]]


def test_search_exact(full: Road) -> None:
    firsts = {
        "self-improving-agent": "self-improving-agent", "Self Improving Agent": "self-improving-agent", "微信支付": "wechat-pay", "wechat pay": "wechat-pay",
        "C++": "c-plus-plus", "pdf tools": "pdf-tools", "pdftools": "pdftools", "cafe": "cafe-menu", "café": "cafe-menu", "CHECKPOINT": "checkpoint",
    }  # fmt: skip
    assert {query: (found(full, query) or [""])[0] for query in firsts} == firsts
    assert "checkpoint" in found(full, "check")
    assert {"pdf-tools", "pdftools"} <= set(found(full, "pdf tools"))
    assert {"pdf-tools", "pdftools"} <= set(found(full, "pdftools"))
    assert "hidden-draft" not in found(full, "hidden-draft")
    for odd in ("' OR 1=1 --", "%"):
        assert len(found(full, odd)) < len(PACKS)


@pytest.mark.parametrize(
    "query", ["self-improving-agent", "pdf tools", "微信支付", "check", "C++", "%", "' OR 1=1 --", "agent"]
)
def test_search_exact_the_command_line_shows_the_order_of_the_index(full: Road, query: str) -> None:
    full.shell.index = IndexBehindApp(real=full.index)
    ran = full.shell("search", "--json", "--", *query.split())
    assert [item["name"] for item in ran.json["items"]] == found(full, query)


def all_pages(road: Road, url: str) -> list[str]:
    seen: list[str] = []
    while url:
        page = road.index.get(url).json
        seen += [item["name"] for item in page["items"]]
        url = f"/v1/{page['next']}" if page["next"] else ""
    return seen


def test_search_exact_pages_give_each_pack_once(full: Road) -> None:
    assert sorted(all_pages(full, "/v1/packs?limit=3")) == sorted(PACKS)
    together = found(full, "self improving agent")
    assert len(together) == 4
    for size in (1, 2, 3):
        assert all_pages(full, f"/v1/search?q=self+improving+agent&limit={size}") == together


def test_search_exact_an_empty_result_says_what_there_is(full: Road) -> None:
    answer = full.index.get("/v1/search?q=checkpiont").json
    assert (answer["items"], answer["packs"], answer["near"]) == ([], len(PACKS), ["checkpoint"])
    full.shell.index = IndexBehindApp(real=full.index)
    ran = full.shell("search", "checkpiont")
    assert f"it has {len(PACKS)} packs; did you mean checkpoint?" in ran.out
    assert full.shell("search", "hidden-draft", "--json").json["packs"] == len(PACKS)


def test_search_exact_a_long_query_is_answered(full: Road) -> None:
    assert full.index.get(f"/v1/search?q={'a' * 5000}").status in (200, 422)


def test_search_exact_a_new_pack_is_found_at_once_and_a_yanked_or_deleted_one_is_gone_at_once(full: Road) -> None:
    assert full.upload(a_guide_archive("brand-new"), "brand-new").status == 201
    assert found(full, "brand-new")[0] == "brand-new"
    assert full.index.ask("POST", "/v1/packs/brand-new/1.0.0/yank", token=full.index.token).status == 200
    assert found(full, "brand-new") == []
    assert full.index.ask("DELETE", "/v1/packs/brand-new/1.0.0/yank", token=full.index.token).status == 200
    assert found(full, "brand-new")[0] == "brand-new"
    version = parse_version("1.0.0")
    delete_release(full.index.parts.database, parse_pack_name("brand-new"), version, "", full.index.clock.now)
    assert found(full, "brand-new") == []
    answer = full.index.get("/v1/search?q=brand-new").json
    assert (answer["packs"], answer["near"]) == (len(PACKS), [])
