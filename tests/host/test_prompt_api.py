"""The prompt section of a real host, fresh at each turn, and a guide's files for agents elsewhere (mission E5 to E7, E10)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.factories import a_skill_md
from tests.registry.trees import write_tree

if TYPE_CHECKING:
    from tests.host.hosts import HostUnderTest

pytestmark = pytest.mark.flow


def prompt(host: HostUnderTest, query: str = "", role: str = "viewer") -> str:
    answer = host.ask("GET", f"/v1/prompt{query}", role)
    assert answer.status_code == 200 and answer.headers["content-type"].startswith("text/plain")
    return answer.text


def test_e5_e6_the_section_lists_what_may_be_offered(host: HostUnderTest) -> None:
    text = prompt(host)
    assert text.startswith("\n\nThe following skills provide specialized instructions for specific tasks.\nUse the read tool")
    assert re.findall(r"<name>(.*)</name>", text) == ["both_sides", "greeting"]
    assert f"<location>{host.root}/greeting/SKILL.md</location>" in text and "secret" not in text
    assert text.endswith("</available_skills>")


def test_e7_without_the_read_tool_there_is_no_section(host: HostUnderTest) -> None:
    assert prompt(host, "?tools=write,exec") == "" and prompt(host, "?tools=") == ""
    assert prompt(host, "?tools=write,%20read") == prompt(host) != ""


def test_the_section_as_json_comes_with_its_skills(host: HostUnderTest) -> None:
    values = host.get("/v1/prompt", headers={"Accept": "application/json"})
    assert values["prompt"] == prompt(host) and [row["key"] for row in values["skills"]] == ["both_sides", "greeting"]


def test_e10_a_changed_guide_has_a_new_version_on_the_next_turn(host: HostUnderTest) -> None:
    folder = write_tree(host.root / "greeting-2", {"SKILL.md": a_skill_md("changing")})
    host.wait_for(lambda: "<name>changing</name>" in prompt(host))
    before = re.search(r"changing</name>.*?<version>(.*?)</version>", prompt(host), re.DOTALL)
    write_tree(folder, {"SKILL.md": a_skill_md("changing", "Something new. Use it now.")})
    text = prompt(host)
    after = re.search(r"changing</name>.*?<version>(.*?)</version>", text, re.DOTALL)
    assert before and after and before[1] != after[1] and "Something new. Use it now." in text


def test_a_remote_agent_gets_urls_that_it_can_read(host: HostUnderTest) -> None:
    (url,) = re.findall(r"<location>(.*greeting.*)</location>", prompt(host, "?location=url").replace("greeting-2", "other"))
    assert url.startswith(host.url)
    path = url.removeprefix(host.url)
    answer = host.ask("GET", path, "viewer")
    assert answer.status_code == 200 and "# Greet" in answer.text and answer.headers["content-type"].startswith("text/plain")
    # A path in the guide, resolved against the guide's own URL, as the section tells the model.
    assert host.ask("GET", path.replace("SKILL.md", "references/more.md"), "viewer").text == "More.\n"
    assert host.ask("GET", "/v1/prompt?location=elsewhere").status_code == 422


def test_bytes_that_aren_t_text_come_as_a_download(host: HostUnderTest) -> None:
    answer = host.ask("GET", "/v1/skills/greeting/files/logo.png", "viewer")
    assert answer.content == b"\x89PNG\x00\xff" and answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["x-content-type-options"] == "nosniff" and answer.headers["content-disposition"] == "attachment"


@pytest.mark.parametrize(
    "path", ["../look/run.sh", "%2e%2e/look/skill.json", "..%2f..%2fhome/market/host-admin.token", "/etc/passwd", "nothing.md", "references", ".market/lock", ""]
)
def test_nothing_outside_a_skill_s_directory_is_served(host: HostUnderTest, path: str) -> None:
    answer = host.ask("GET", f"/v1/skills/greeting/files/{path}")
    assert answer.status_code in (403, 404), answer.text


def test_links_are_not_followed(host: HostUnderTest) -> None:
    (host.root / "greeting" / "token").symlink_to(host.home / "market" / "host-admin.token")
    answer = host.ask("GET", "/v1/skills/greeting/files/token")
    assert answer.status_code == 403 and host.roles["admin"] not in answer.text
