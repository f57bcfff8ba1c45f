"""Plugins on an index: asked before a release is made, told afterwards, and nothing is kept where one objects."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from index.screening import decide_by_owner
from market.errors import Problem, Severity
from market.hookspecs import hookimpl
from market.names import PackName
from market.trust.decision import Decision, deny
from tests.factories import RUN_SCRIPT, a_skill_json, a_source
from tests.index.builders import START, AnIndex, a_described_source, an_index, archive
from tests.index.uploads import upload
from tests.index.wheels import a_wheel, an_sdist
from tests.pack.test_secrets import TOKENS
from tests.plugged import an_entry

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from market.model import Pack
    from market.pack.source import Source


class Watcher:
    def __init__(self) -> None:
        self.heard: list[tuple[object, ...]] = []
        self.findings: list[Problem] = []
        self.denied = ""
        self.crash = False

    @hookimpl
    def scan_pack(self, pack: Pack, source: Source, act: str) -> list[Problem]:
        if self.crash:
            raise ValueError("no luck")
        self.heard.append(("scan", pack.name, len(source.files()), act))
        return self.findings

    @hookimpl
    def decide_publish(self, pack: Pack, publisher: str, owner: str) -> Decision | None:
        self.heard.append(("decide", pack.name, publisher, owner))
        return deny(self.denied) if self.denied else None

    @hookimpl
    def release_published(self, pack: Pack, publisher: str, filename: str, tree_digest: str, at: datetime) -> None:
        self.heard.append(("published", pack.name, str(pack.version), publisher, filename, tree_digest[:7], at))

    @hookimpl
    def release_yanked(self, name: str, version: str, publisher: str, reason: str, undone: bool, at: datetime) -> None:
        self.heard.append(("yanked", name, version, publisher, reason, undone, at))


@pytest.fixture
def watcher() -> Watcher:
    return Watcher()


@pytest.fixture
def watched(tmp_path: Path, watcher: Watcher) -> Iterator[AnIndex]:
    with an_index(tmp_path / "data", entry_points=[an_entry(watcher, "watcher")]) as made:
        yield made


def finding(severity: Severity) -> Problem:
    return Problem("a-key", severity, "a key", "run.sh", 2, 1)


def test_plugins_hear_of_a_release_with_its_particulars_and_once(watched: AnIndex, watcher: Watcher) -> None:
    assert watched.publish().status == 201
    published = ("published", "echo-args", "1.0.0", "acme", "echo-args-1.0.0.zip", "sha256:", START)
    assert watcher.heard == [("decide", "echo-args", "acme", ""), ("scan", "echo-args", 2, "publish"), published]
    watcher.heard.clear()
    assert watched.publish().status == 200
    assert watcher.heard == []
    assert watched.publish(a_described_source("Another. Use it."), version="1.1.0").status == 201
    assert watcher.heard[0] == ("decide", "echo-args", "acme", "acme")


def test_a_denied_release_leaves_nothing(watched: AnIndex, watcher: Watcher) -> None:
    watcher.denied = "not on a Friday"
    answer = watched.publish()
    assert (answer.status, answer.json["code"], answer.json["why"]) == (403, "refused", "watcher: not on a Friday")
    assert watched.get("/v1/packs/echo-args/index.json").status == 404
    assert [path for path in (watched.parts.settings.data / "blobs").rglob("*") if path.is_file()] == []
    assert [row[0] for row in watcher.heard] == ["decide"]


@pytest.mark.parametrize("severity", [Severity.ERROR, Severity.REFUSAL])
def test_a_finding_that_stops_is_answered_with_its_place(
    watched: AnIndex, watcher: Watcher, severity: Severity
) -> None:
    watcher.findings = [finding(Severity.WARNING), finding(severity)]
    answer = watched.publish()
    assert (answer.status, answer.json["code"]) == (422, "invalid-input")
    problems = answer.json["problems"]
    assert [(one["rule"], one["file"], one["line"]) for one in problems] == [("watcher:a-key", "run.sh", 2)] * 2
    assert watched.get("/v1/packs/echo-args/index.json").status == 404


def test_a_warning_is_in_the_answer(watched: AnIndex, watcher: Watcher) -> None:
    watcher.findings = [finding(Severity.WARNING)]
    answer = watched.publish()
    assert answer.status == 201
    assert [one["rule"] for one in answer.json["findings"]] == ["watcher:a-key"]


def test_a_scan_that_crashes_stops_the_release(watched: AnIndex, watcher: Watcher) -> None:
    watcher.crash = True
    answer = watched.publish()
    (problem,) = answer.json["problems"]
    assert (answer.status, problem["rule"], problem["text"]) == (422, "watcher:crashed", "the plugin watcher crashed in scan_pack")
    assert "ask whoever operates the index" in problem["fix"] and "ask whoever operates the index" in answer.json["hint"]
    assert answer.json["why"] == "its finding stops it"


@pytest.mark.parametrize(
    "findings",
    [
        [Problem("x", "error", "y")],  # type: ignore[arg-type]
        [Problem("x", "warning", "y", Path("run.sh"))],  # type: ignore[arg-type]
        [Problem("x", Severity.WARNING, "y", line="3")],  # type: ignore[arg-type]
        "a sentence",
    ],
)
def test_a_finding_of_wrong_types_stops_before_anything_is_made(watched: AnIndex, watcher: Watcher, findings: list[Problem]) -> None:
    watcher.findings = findings
    answer = watched.publish()
    assert (answer.status, len(answer.json["problems"])) == (422, 1)
    assert watched.get("/v1/packs/echo-args/index.json").status == 404


def test_a_word_for_a_warning_stops_nothing(watched: AnIndex, watcher: Watcher) -> None:
    watcher.findings = [Problem("x", "warning", "y")]  # type: ignore[arg-type]
    assert watched.publish().status == 201


def test_an_upload_is_told_each_finding_with_its_rule(watched: AnIndex, watcher: Watcher) -> None:
    watcher.findings = [Problem("a-key", Severity.ERROR, "a key", "run.sh", 2, fix="take it out"), *[finding(Severity.WARNING)] * 30]
    detail = upload(watched, a_wheel(), "text_tools-1.0.0-py3-none-any.whl").json["detail"]
    assert "\n- run.sh:2: error: a key [watcher:a-key]: take it out\n" in detail
    assert detail.endswith("\n- and 11 more")


SECRET = {"notes.md": b"first\n" + TOKENS["ghp_"].encode()}


def test_a_secret_stops_a_release_on_every_road_unless_its_place_is_allowed(tmp_path: Path) -> None:
    source = a_source({"skill.json": a_skill_json(), "run.sh": RUN_SCRIPT, **SECRET})
    with an_index(tmp_path / "data") as index:
        answer = index.publish(source)
        assert (answer.status, [(one["rule"], one["file"], one["line"]) for one in answer.json["problems"]]) == (422, [("secret", "notes.md", 2)])
        assert index.ask("PUT", "/v1/packs/echo-args/1.0.0?allow_secret=notes.md:1", token=index.token, body=archive(source)).status == 422
        assert index.ask("PUT", "/v1/packs/echo-args/1.0.0?allow_secret=notes.md", token=index.token, body=archive(source)).status == 422
        answer = index.ask("PUT", "/v1/packs/echo-args/1.0.0?allow_secret=notes.md:2", token=index.token, body=archive(source))
        assert (answer.status, answer.json["findings"]) == (201, [])
        wheel = a_wheel(extra={"text_tools/notes.md": SECRET["notes.md"]})
        assert upload(index, wheel, "text_tools-1.0.0-py3-none-any.whl").status == 422


def test_a_scanner_that_came_later_stops_no_repetition(watched: AnIndex, watcher: Watcher) -> None:
    assert watched.publish().status == 201
    watcher.findings = [finding(Severity.ERROR)]
    assert watched.publish().status == 200


def test_wheels_are_screened_as_archives_are(watched: AnIndex, watcher: Watcher) -> None:
    name = "text_tools-1.0.0-py3-none-any.whl"
    watcher.findings = [finding(Severity.ERROR)]
    answer = upload(watched, a_wheel(), name)
    assert (answer.status, answer.json["problems"][0]["rule"]) == (422, "watcher:a-key")
    watcher.findings, watcher.denied = [], "not on a Friday"
    assert upload(watched, a_wheel(), name).status == 403
    watcher.denied = ""
    watcher.heard.clear()
    assert upload(watched, a_wheel(), name).status == 200
    assert [row[0] for row in watcher.heard] == ["decide", "scan", "published"]
    assert watcher.heard[-1][1:5] == ("text-tools", "1.0.0", "acme", name)
    watcher.heard.clear()
    assert upload(watched, a_wheel(), name).status == 200
    assert watcher.heard == []


def test_an_sdist_is_asked_about_and_not_scanned(watched: AnIndex, watcher: Watcher) -> None:
    assert upload(watched, an_sdist(), "text_tools-1.0.0.tar.gz").status == 200
    assert [row[:2] for row in watcher.heard] == [("decide", "text-tools"), ("published", "text-tools")]


def test_plugins_hear_of_yanks(watched: AnIndex, watcher: Watcher) -> None:
    watched.publish()
    watcher.heard.clear()
    for method in ("POST", "POST", "DELETE", "DELETE"):
        body = b'{"reason": "leaks"}' if method == "POST" else b""
        watched.ask(method, "/v1/packs/echo-args/1.0.0/yank", token=watched.token, body=body)
    assert watcher.heard == [
        ("yanked", "echo-args", "1.0.0", "acme", "leaks", False, START),
        ("yanked", "echo-args", "1.0.0", "acme", "", True, START),
    ]


def test_the_own_rule_keeps_names_with_their_publishers(watched: AnIndex) -> None:
    watched.publish()
    other = a_source({"skill.json": a_skill_json(description="Mine now. Use it."), "run.sh": RUN_SCRIPT})
    assert watched.publish(other, version="2.0.0", token=watched.a_token("rival")).status == 403
    name = PackName("echo-args")
    assert decide_by_owner(name, "acme", "").allowed
    assert decide_by_owner(name, "acme", "acme").allowed
    assert not decide_by_owner(name, "rival", "acme").allowed
