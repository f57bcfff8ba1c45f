from __future__ import annotations

import asyncio
import hashlib
import io
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from index.accounts import authenticate
from index.publish import Upload, accept
from market.client import wire
from market.errors import Conflict
from market.names import parse_pack_name, parse_version
from market.pack.archive_read import read_archive
from market.pack.record import make_record
from tests.factories import RUN_SCRIPT, a_skill_json, a_skill_md, a_source
from tests.index.builders import START, AnIndex, a_described_source, archive
from tests.web.asgi import call

if TYPE_CHECKING:
    from pathlib import Path


def test_published_release_is_at_once_in_every_place(index: AnIndex) -> None:
    answer = index.publish()
    published = wire.parse_document(wire.Published, answer.json)
    assert answer.status == 201
    assert (published.name, published.version, published.publisher, published.created) == ("echo-args", "1.0.0", "acme", True)

    pack = wire.parse_document(wire.PackDocument, index.get(wire.pack_path("echo-args")).json)
    assert (pack.latest, pack.publisher, pack.releases[0].tree_digest) == ("1.0.0", "acme", published.tree_digest)
    release = wire.parse_document(wire.ReleaseDocument, index.get(wire.release_path("echo-args", "1.0.0")).json)
    assert release.archive.digest == published.archive_digest
    assert [skill.name for skill in release.skills] == ["echo_args"]
    assert index.get("/v1/packs").json["items"][0]["name"] == "echo-args"
    assert index.get("/v1/search?q=echo").json["items"][0]["name"] == "echo-args"
    assert "echo-args" in index.get("/").text


def test_stored_archive_is_the_sent_one_and_its_record_stands_in_the_document(index: AnIndex) -> None:
    sent = archive(a_source())
    published = index.put(sent).json
    assert published["archive_digest"] == f"sha256:{hashlib.sha256(sent).hexdigest()}"
    assert index.get(wire.blob_path(published["archive_digest"])).body == sent
    record = make_record(read_archive(io.BytesIO(sent)))
    document = index.get(wire.release_path("echo-args", "1.0.0")).json
    assert document["tree_digest"] == record.tree_digest
    assert document["record"] == [[file.path, file.size, file.sha256, file.executable] for file in record.files]


def test_same_tree_again_is_a_success_that_says_so(index: AnIndex) -> None:
    first = index.publish()
    index.clock.move(days=1)
    again = index.publish()
    assert (again.status, again.json["created"]) == (200, False)
    assert again.json["tree_digest"] == first.json["tree_digest"]
    assert index.get(wire.pack_path("echo-args")).json["updated_at"].startswith("2026-01-02")


def test_other_tree_under_the_version_is_a_conflict(index: AnIndex) -> None:
    index.publish()
    before = index.get(wire.release_path("echo-args", "1.0.0")).body
    answer = index.publish(a_described_source("Something else."))
    assert (answer.status, answer.json["code"]) == (409, "conflict")
    assert index.get(wire.release_path("echo-args", "1.0.0")).body == before


def test_two_spellings_of_a_version_are_one_release(index: AnIndex) -> None:
    index.publish(version="1.0")
    assert index.publish(version="1.0.0").json["version"] == "1.0"
    assert index.publish(a_described_source("Other."), version="v1").status == 409


def test_name_belongs_to_its_first_publisher(index: AnIndex) -> None:
    index.publish()
    answer = index.publish(version="1.1.0", token=index.a_token("mallory"))
    assert (answer.status, answer.json["code"]) == (403, "refused")
    assert "acme" in answer.json["detail"]
    assert index.get(wire.release_path("echo-args", "1.1.0")).status == 404
    assert index.publish(version="1.1.0", token=index.a_token("acme")).status == 201


def test_name_is_canonical_however_it_is_written(index: AnIndex) -> None:
    assert index.publish(name="Echo_Args").json["name"] == "echo-args"


def test_newest_final_version_is_the_latest_whatever_the_order_of_publishing(index: AnIndex) -> None:
    for version in ["2.0.0", "1.10.0", "1.9.0", "3.0.0rc1"]:
        index.clock.move(seconds=1)
        assert index.publish(a_described_source(f"This is {version}."), version=version).status == 201
    pack = index.get(wire.pack_path("echo-args")).json
    assert [release["version"] for release in pack["releases"]] == ["3.0.0rc1", "2.0.0", "1.10.0", "1.9.0"]
    assert (pack["latest"], pack["summary"]) == ("2.0.0", "This is 2.0.0.")
    assert [pack["version"] for pack in index.get("/v1/packs").json["items"]] == ["2.0.0"]
    found = {word: index.get(f"/v1/search?q={word}").json["total"] for word in ("2.0.0", "1.9.0", "3.0.0rc1")}
    assert found == {"2.0.0": 1, "1.9.0": 0, "3.0.0rc1": 0}


def test_pre_release_is_the_latest_where_nothing_else_is(index: AnIndex) -> None:
    index.publish(version="1.0.0rc1")
    assert index.get(wire.pack_path("echo-args")).json["latest"] == "1.0.0rc1"


def test_pack_with_errors_is_refused_with_every_problem(index: AnIndex) -> None:
    source = a_source({"a/skill.json": a_skill_json(name="Not Good"), "b/skill.json": a_skill_json(entry="../../etc/passwd"), "run.sh": RUN_SCRIPT})
    answer = index.publish(source)
    assert (answer.status, answer.json["code"]) == (422, "invalid-input")
    assert {problem["file"].partition("/")[0] for problem in answer.json["problems"] if problem["severity"] == "error"} >= {"a", "b"}
    assert index.get("/v1/packs").json["total"] == 0


def test_command_without_a_class_is_refused_though_it_would_load(index: AnIndex) -> None:
    answer = index.publish(a_source({"skill.json": a_skill_json(**{"class": None}), "run.sh": RUN_SCRIPT}))
    assert answer.status == 422
    assert [problem["rule"] for problem in answer.json["problems"] if problem["severity"] == "refusal"] == ["class-missing"]


@pytest.mark.parametrize("damage", [lambda body: body[:-1], lambda body: b"", lambda body: b"PK\x03\x04", lambda body: body + b"x", lambda body: body.replace(b"run.sh", b"run.py", 1)])
def test_damaged_archive_is_refused_and_leaves_nothing(index: AnIndex, damage: Any, tmp_path: Path) -> None:
    answer = index.put(damage(archive(a_source())))
    assert (answer.status, answer.json["code"]) == (422, "untrusted")
    assert list((tmp_path / "data" / "blobs" / "incoming").iterdir()) == []
    assert [path for path in (tmp_path / "data" / "blobs" / "sha256").rglob("*") if path.is_file()] == []


@pytest.mark.parametrize(("name", "version"), [("-bad-", "1.0.0"), ("a" * 65, "1.0.0"), ("good", "1.0.0-1"), ("good", "banana"), ("good", "1.0+local")])
def test_name_or_version_that_cannot_be_is_refused(index: AnIndex, name: str, version: str) -> None:
    answer = index.publish(name=name, version=version)
    assert answer.status == 422
    assert answer.json["hint"]


def test_publishing_needs_a_token_that_may(index: AnIndex) -> None:
    body = archive(a_source())
    assert index.ask("PUT", "/v1/packs/echo-args/1.0.0", body=body).status == 401
    assert index.put(body, token="skm_wrong").status == 401
    answer = index.put(body, token=index.a_token("acme", scopes=["read"]))
    assert (answer.status, answer.json["code"]) == (403, "refused")


def test_guide_pack_with_several_skills(index: AnIndex) -> None:
    source = a_source({"one/SKILL.md": a_skill_md("one"), "two/SKILL.md": a_skill_md("two", extra="license: MIT\n")}, name="pair")
    assert index.publish(source, name="pair", version="0.1").status == 201
    skills = index.get(wire.release_path("pair", "0.1")).json["skills"]
    assert [(skill["name"], skill["kind"], skill["folder"]) for skill in skills] == [("one", "guide", "one"), ("two", "guide", "two")]


def test_of_two_publishes_at_once_exactly_one_wins(index: AnIndex) -> None:
    bodies = [archive(a_described_source(f"Variant {number}.")) for number in range(6)]

    async def race() -> list[int]:
        headers = {"Authorization": f"Bearer {index.token}"}
        answers = await asyncio.gather(*(call(index.app, "PUT", "/v1/packs/echo-args/1.0.0", headers=headers, body=body) for body in bodies))
        return [answer.status for answer in answers]

    assert sorted(asyncio.run(race())) == [201, 409, 409, 409, 409, 409]


def test_publish_that_loses_the_race_after_its_first_look_sees_it_in_the_transaction(index: AnIndex, tmp_path: Path) -> None:
    """Another process publishes between our look and our commit: here, exactly while our blob is being kept."""
    rival = archive(a_described_source("The rival."))

    class SlowBlobs:
        incoming = index.parts.blobs.incoming

        def keep(self, arrived: Path, digest: Any) -> None:
            index.parts.blobs.keep(arrived, digest)
            _accept(index, rival, tmp_path / "rival")

    with pytest.raises(Conflict):
        _accept(index, archive(a_source()), tmp_path / "ours", blobs=SlowBlobs())
    assert index.get(wire.pack_path("echo-args")).json["summary"] == "The rival."


def test_death_between_blob_and_commit_is_harmless(index: AnIndex, tmp_path: Path) -> None:
    """The blob is there, the release isn't: nobody sees anything, and the same publish again succeeds."""

    class DyingBlobs:
        def keep(self, arrived: Path, digest: Any) -> None:
            index.parts.blobs.keep(arrived, digest)
            raise KeyboardInterrupt

    body = archive(a_source())
    with pytest.raises(KeyboardInterrupt):
        _accept(index, body, tmp_path / "ours", blobs=DyingBlobs())
    assert index.parts.blobs.size_of(_digest(body)) == len(body)
    assert index.get(wire.pack_path("echo-args")).status == 404
    assert index.get("/v1/search?q=echo").json["total"] == 0
    assert index.publish().status == 201


def test_failing_transaction_leaves_no_part_of_a_release(index: AnIndex) -> None:
    with index.parts.database.write() as connection:
        connection.exec_driver_sql("DROP TABLE search")
    assert index.publish().status == 500
    with index.parts.database.read() as connection:
        for table in ("packs", "releases", "files", "documents"):
            assert connection.exec_driver_sql(f"SELECT count(*) FROM {table}").scalar() == 0


def test_publish_is_in_the_audit(index: AnIndex) -> None:
    digest = index.publish().json["tree_digest"]
    index.publish()
    with index.parts.database.read() as connection:
        rows = connection.exec_driver_sql("SELECT at, publisher, subject, details FROM audit WHERE act = 'publish'").all()
    assert [tuple(row[:3]) for row in rows] == [("2026-01-02T03:04:05.000Z", "acme", "echo-args 1.0.0")]
    assert json.loads(rows[0][3])["tree_digest"] == digest


def test_too_large_upload_is_refused_unread(index: AnIndex) -> None:
    headers = {"Authorization": f"Bearer {index.token}", "Content-Length": str(1 << 40)}
    assert index.ask("PUT", "/v1/packs/x/1.0", headers=headers, body=b"").status == 413


def _digest(body: bytes) -> Any:
    return f"sha256:{hashlib.sha256(body).hexdigest()}"


def _accept(index: AnIndex, body: bytes, path: Path, blobs: Any = None) -> Any:
    path.write_bytes(body)
    account = authenticate(index.parts.reader, index.token, START)
    with path.open("rb") as stream:
        upload = Upload(parse_pack_name("echo-args"), parse_version("1.0.0"), stream, path, len(body))
        return accept(index.parts.database, blobs or index.parts.blobs, upload, replace(index.parts.deed(account), now=START))
