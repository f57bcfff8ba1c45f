from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

import pytest

from index.faces.python import form
from market.client import wire
from market.pack.source import MemorySource
from tests.factories import a_source
from tests.index.builders import AnIndex, an_index, archive
from tests.index.uploads import BOUNDARY, a_form, basic, part, pieces, upload
from tests.index.wheels import SKILL, a_wheel, an_sdist, wheel_name
from tests.wheels import code_files, zip_files

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.web.asgi import Answer

NAME = wheel_name()
SDIST = "text_tools-1.0.0.tar.gz"
PACK = "/v1/packs/text-tools/index.json"
RELEASE = "/v1/packs/text-tools/1.0.0/index.json"


@pytest.mark.parametrize("content_first", [False, True])
@pytest.mark.parametrize("path", ["/legacy/", "/legacy"])
def test_wheel_is_published_and_at_once_everywhere(index: AnIndex, path: str, content_first: bool) -> None:
    wheel = a_wheel()
    answer = upload(index, wheel, NAME, path=path, content_first=content_first)
    assert (answer.status, answer.json["created"], answer.json["publisher"]) == (200, True, "acme")
    document = index.get(PACK).json
    digest = f"sha256:{hashlib.sha256(wheel).hexdigest()}"
    assert document["latest"] == "1.0.0"
    assert document["releases"][0]["archive"] == {
        "digest": digest, "size": len(wheel), "url": f"../../blobs/sha256/{digest[7:]}", "kind": "wheel", "filename": NAME,
    }  # fmt: skip
    release = index.get(RELEASE).json
    assert {skill["name"]: skill["kind"] for skill in release["skills"]} == {"shout": "python", "loud-texts": "guide"}
    assert (release["kind"], release["needs"]) == ("wheel", {"python": ">=3.9"})
    assert [item["name"] for item in index.get("/v1/search?q=loud").json["items"]] == ["text-tools"]
    assert index.get(f"/v1/blobs/sha256/{digest[7:]}").body == wheel


def test_what_lies_where_dependencies_do_is_refused_zipped_and_unpacked(index: AnIndex) -> None:
    files = {**code_files(), ".site/pydantic.py": b"x = 1\n"}
    upload_answer = upload(index, zip_files(files), "demo_pack-1.0.0-py3-none-any.whl")
    sent = index.put(archive(MemorySource(files)), name="demo-pack")
    for answer in (upload_answer, sent):
        assert answer.status in (400, 422)
        assert "wheel-site" in [problem["rule"] for problem in answer.json["problems"]]
    assert index.get("/v1/packs").json["items"] == []


def test_a_wheel_s_tags_are_among_its_release_s_needs(index: AnIndex) -> None:
    wheel = zip_files(code_files(tag="cp311-cp311-win_amd64"))
    assert upload(index, wheel, "demo_pack-1.0.0-cp311-cp311-win_amd64.whl").status == 200
    assert index.get(wire.release_path("demo-pack", "1.0.0")).json["needs"] == {"tags": ["cp311-cp311-win_amd64"]}
    assert "cp311-cp311-win_amd64" in index.get("/packs/demo-pack/1.0.0").text


def test_same_bytes_again_are_fine_and_others_are_not(index: AnIndex) -> None:
    first, again = upload(index, a_wheel(), NAME), upload(index, a_wheel(), NAME)
    assert (again.status, again.json["created"]) == (200, False)
    assert {**again.json, "created": True} == first.json
    other = upload(index, a_wheel(requires_python=">=3.10"), NAME)
    assert (other.status, other.headers["content-type"]) == (409, "application/problem+json")
    assert other.json["detail"].startswith("File already exists: text_tools-1.0.0-py3-none-any.whl")
    assert index.get(f"/files/{first.json['archive_digest'][7:]}/{NAME}").body == a_wheel()


@pytest.mark.parametrize("other", ["Text_Tools-1.0.0-py3-none-any.whl", "text_tools-1.0-py3-none-any.whl", "text.tools-1.0.0-py3-none-any.whl"])
def test_other_spelling_of_the_same_file_is_refused(index: AnIndex, other: str) -> None:
    upload(index, a_wheel(), NAME)
    fields: dict[str, str | None] = {"version": "1.0.0", "name": "text-tools"}
    refused(upload(index, a_wheel(), other, fields=fields), 409, f"File already exists: these bytes are published as {NAME}", "another spelling")
    others = upload(index, a_wheel(extra={"text_tools/x.py": b""}), other, fields=fields)
    refused(others, 409, f"File already exists: {NAME} is published, with other content")


def test_wheels_for_other_platforms_join_the_release(index: AnIndex) -> None:
    upload(index, a_wheel(), NAME)
    tag = "cp311-cp311-linux_x86_64"
    other = wheel_name(tag=tag)
    refused = upload(index, a_wheel(), other)
    assert (refused.status, [one["rule"] for one in refused.json["problems"]]) == (422, ["wheel-tags-differ"])
    assert upload(index, a_wheel(extra={"text_tools/fast.py": b"# fast\n"}, tag=tag), other).status == 200
    assert [file["filename"] for file in index.get(RELEASE).json["files"]] == [NAME, other]
    assert index.get(PACK).json["releases"][0]["archive"]["filename"] == NAME


def test_sdist_is_kept_for_download_and_no_release_of_its_own(index: AnIndex) -> None:
    assert upload(index, an_sdist(), SDIST).status == 200
    assert index.get(PACK).status == 404
    assert index.get("/v1/packs").json["items"] == []
    page = index.get("/simple/text-tools/", headers={"Accept": "application/vnd.pypi.simple.v1+json"}).json
    assert [(file["filename"], file["core-metadata"], file["requires-python"]) for file in page["files"]] == [(SDIST, False, ">=3.10")]
    upload(index, a_wheel(), NAME)
    assert [(file["kind"], file["filename"]) for file in index.get(RELEASE).json["files"]] == [("sdist", SDIST), ("wheel", NAME)]


@pytest.mark.parametrize("wheel_first", [True, False])
def test_archive_and_wheel_stand_under_one_release(index: AnIndex, wheel_first: bool) -> None:
    acts: list[Callable[[], Answer]] = [lambda: upload(index, a_wheel(), NAME), lambda: index.publish(a_source(), name="text-tools")]
    answers = [act() for act in (acts if wheel_first else reversed(acts))]
    assert {answer.status for answer in answers} == {200, 201}
    document = index.get(PACK).json
    assert len(document["releases"]) == 1
    release = index.get(RELEASE).json
    # The archive speaks for the release, whichever came first: it is what an install takes.
    assert (release["archive"]["kind"], release["kind"] != "wheel") == ("archive", True)
    trees = {file["kind"]: file["tree_digest"] for file in release["files"]}
    assert release["tree_digest"] == document["releases"][0]["tree_digest"] == trees["archive"] != trees["wheel"]
    assert {file["kind"]: index.get(f"/v1/packs/text-tools/1.0.0/{file['url']}").status for file in release["files"]}.keys() == {"archive", "wheel"}
    assert [file["filename"] for file in index.get("/simple/text-tools/", headers={"Accept": "application/vnd.pypi.simple.v1+json"}).json["files"]] == [NAME]


def test_spellings_of_a_version_are_one_release(index: AnIndex) -> None:
    index.publish(a_source(), name="text-tools", version="1.0")
    answer = upload(index, a_wheel(), NAME)
    assert (answer.json["version"], answer.json["url"]) == ("1.0", "../v1/packs/text-tools/1.0/index.json")
    assert len(index.get(PACK).json["releases"]) == 1


def refused(answer: Answer, status: int, *words: str) -> None:
    assert answer.status == status, answer.text
    for word in words:
        assert word in answer.json["detail"]


@pytest.mark.parametrize(
    ("fields", "words"),
    [({"name": "other"}, ["name", "'other'", "'text-tools'"]), ({"version": "2.0"}, ["version", "'2.0'", "'1.0.0'"]), ({"filetype": "sdist"}, ["filetype"]),
     ({"sha256_digest": "0" * 64}, ["sha256_digest"]), ({"md5_digest": "0" * 32}, ["md5_digest"]), ({"blake2_256_digest": "0" * 64}, ["blake2_256_digest"]),
     ({":action": "submit"}, ["submit"]), ({"protocol_version": "7"}, ["protocol_version", "'7'"]), ({"version": "banana"}, ["banana"]),
     ({"requires_python": ">=3.12"}, ["requires_python", "'>=3.12'", "'>=3.9'"]), ({"requires_dist": "requests"}, ["requires_dist", "'requests'", "''"]),
     ({"summary": "Another."}, ["summary", "'Works on texts.'"])],
)  # fmt: skip
def test_claims_that_the_file_denies_are_refused(index: AnIndex, fields: dict[str, str | None], words: list[str]) -> None:
    refused(upload(index, a_wheel(), NAME, fields=fields), 400, *words)
    assert index.get(PACK).status == 404
    assert not list(index.parts.blobs.incoming.iterdir())


def test_claims_are_held_against_the_file_that_stands_already(index: AnIndex) -> None:
    upload(index, a_wheel(), NAME)
    refused(upload(index, a_wheel(), NAME, fields={"requires_python": ">=3.12"}), 400, "requires_python")
    assert upload(index, a_wheel(), NAME, fields={"requires_python": ">= 3.9"}).status == 200
    upload(index, an_sdist(), SDIST)
    assert upload(index, an_sdist(), SDIST).json["created"] is False


def test_claims_of_an_sdist_are_held_against_its_metadata(index: AnIndex) -> None:
    refused(upload(index, an_sdist(), SDIST, fields={"requires_python": ">=3.12"}), 400, "requires_python", "'>=3.10'")
    assert upload(index, an_sdist(), SDIST, fields={"requires_python": ">=3.10"}).status == 200


def test_digests_that_are_true_are_fine(index: AnIndex) -> None:
    wheel = a_wheel()
    fields: dict[str, str | None] = {"md5_digest": hashlib.md5(wheel).hexdigest().upper(), "blake2_256_digest": hashlib.blake2b(wheel, digest_size=32).hexdigest()}
    assert upload(index, wheel, NAME, fields=fields).status == 200


def test_a_word_sent_twice_must_be_true_twice(index: AnIndex) -> None:
    body = part('name="version"', b"9.9") + a_form(a_wheel(), NAME)
    headers = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}", **basic(index.token)}
    refused(index.ask("POST", "/legacy/", headers=headers, body=body), 400, "'9.9'")


def test_claims_may_be_left_out(index: AnIndex) -> None:
    fields: dict[str, str | None] = dict.fromkeys([":action", "protocol_version", "name", "version", "filetype", "sha256_digest"])
    assert upload(index, a_wheel(), NAME, fields=fields).status == 200


def test_unnormalised_name_in_the_form_is_fine(index: AnIndex) -> None:
    assert upload(index, a_wheel(), NAME, fields={"name": "Text_Tools"}).status == 200


@pytest.mark.parametrize(
    ("wheel", "filename", "words"),
    [
        (a_wheel(group=""), NAME, ["market.skills"]),
        (a_wheel(record=b""), NAME, ["RECORD"]),
        (a_wheel(extra={"evil.pth": b"import os"}), NAME, ["evil.pth"]),
        (a_wheel(extra={"json.py": b""}), NAME, ["json"]),
        (a_wheel(skill={**SKILL, "class": "wild"}), NAME, ["class"]),
        (a_wheel()[:-7], NAME, []),
        (b"PK\x03\x04 no zip", NAME, []),
        (a_wheel(), wheel_name(version="2.0.0"), ["2.0.0"]),
        (a_wheel(), wheel_name(name="other-tools"), ["other"]),
        (an_sdist(), "other_tools-1.0.0.tar.gz", ["text_tools"]),
        (an_sdist(inside="other"), SDIST, ["PKG-INFO is of other 1.0.0"]),
        (an_sdist(top="elsewhere"), SDIST, ["outside"]),
        (b"no gzip", SDIST, []),
        (a_wheel(), "text_tools.zip", [".whl nor in .tar.gz"]),
        (a_wheel(), "../text_tools-1.0.0-py3-none-any.whl", []),
        (a_wheel(), "text_tools-1.0.0+local-py3-none-any.whl", ["local"]),
    ],
)  # fmt: skip
def test_bad_file_is_refused_with_its_fault(index: AnIndex, wheel: bytes, filename: str, words: list[str]) -> None:
    fields: dict[str, str | None] = {"name": None, "version": None}
    answer = upload(index, wheel, "x-1-py3-none-any.whl" if "-" not in filename else filename, fields=fields)
    if "-" not in filename:
        body = a_form(wheel, "x-1-py3-none-any.whl", fields=fields).replace(b"x-1-py3-none-any.whl", filename.encode())
        answer = index.ask("POST", "/legacy/", headers={"Content-Type": f"multipart/form-data; boundary={BOUNDARY}", **basic(index.token)}, body=body)
    refused(answer, 422, *words)
    assert index.get("/v1/packs").json["total"] == 0
    assert not list(index.parts.blobs.incoming.iterdir())


def test_who_may_upload(index: AnIndex) -> None:
    missing = upload(index, a_wheel(), NAME, token="")
    assert (missing.status, missing.headers["www-authenticate"].split()[0]) == (401, "Basic")
    bad = upload(index, a_wheel(), NAME, token="skm_wrong")
    assert (bad.status, bad.headers["www-authenticate"].split()[0]) == (401, "Basic")
    upload(index, a_wheel(), NAME)
    refused(upload(index, a_wheel(version="1.1.0"), wheel_name(version="1.1.0"), token=index.a_token("rival")), 403, "belongs to the publisher 'acme'", "pyproject.toml")
    refused(upload(index, a_wheel(), NAME, token=index.a_token("rival")), 403)
    refused(upload(index, a_wheel(), NAME, token=index.a_token("acme", scopes=["read"])), 403, "may not publish")


@pytest.mark.parametrize("headers", [basic("skm_x", user="admin"), {"Authorization": "Basic !!!"}, {"Authorization": "Basic " + "QQ" * 5_000}, {"Authorization": "Digest x"}])
def test_odd_credentials_are_refused(index: AnIndex, headers: dict[str, str]) -> None:
    answer = index.ask("POST", "/legacy/", headers=headers)
    assert (answer.status, answer.headers["www-authenticate"].split()[0]) == (401, "Basic")


def test_bearer_is_taken_too(index: AnIndex) -> None:
    headers = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}", "Authorization": f"Bearer {index.token}"}
    assert index.ask("POST", "/legacy/", headers=headers, body=a_form(a_wheel(), NAME)).status == 200


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "DELETE"])
@pytest.mark.parametrize("path", ["/legacy/", "/legacy"])
def test_other_methods_are_no_redirect(index: AnIndex, method: str, path: str) -> None:
    answer = index.ask(method, path)
    assert (answer.status, answer.headers["allow"]) == (405, "POST")


def test_simple_takes_no_upload(index: AnIndex) -> None:
    answer = upload(index, a_wheel(), NAME, path="/simple/")
    assert (answer.status, answer.headers["allow"]) == (405, "GET, HEAD")


@pytest.mark.parametrize(
    "body",
    [b"--x", a_form(a_wheel(), NAME)[:-9], a_form(a_wheel(), NAME, file_field="file"), a_form(a_wheel(), NAME)[:500],
     part('name="content"; filename="a-1-py3-none-any.whl"', b"x") * 2 + f"--{BOUNDARY}--".encode(),
     part('name="name"', b"x" * (form.MAX_FIELD_BYTES + 1)) + a_form(a_wheel(), NAME),
     part('name="requires_dist"', b"x" * form.MAX_FIELD_BYTES) * (form.MAX_WANTED_BYTES // form.MAX_FIELD_BYTES + 1) + a_form(a_wheel(), NAME), part('name="x"', b"") * (form.MAX_PARTS + 1)],
)  # fmt: skip
def test_broken_form_is_refused(index: AnIndex, body: bytes) -> None:
    headers = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}", **basic(index.token)}
    refused(index.ask("POST", "/legacy/", headers=headers, body=pieces(body, 70_000)), 400, "upload form")
    assert not list(index.parts.blobs.incoming.iterdir())


@pytest.mark.parametrize("kind", ["", "application/json", "multipart/form-data", f"multipart/form-data; boundary={'b' * 100}"])
def test_what_is_no_form_is_refused(index: AnIndex, kind: str) -> None:
    refused(index.ask("POST", "/legacy/", headers={"Content-Type": kind, **basic(index.token)}, body=b"{}"), 400, "upload form")


def test_too_large_a_file_is_refused_by_its_announcement(index: AnIndex) -> None:
    headers = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}", "Content-Length": str(1 << 40), **basic(index.token)}
    refused(index.ask("POST", "/legacy/", headers=headers, body=b"--"), 413)


def test_native_put_ends_in_the_same_place(index: AnIndex) -> None:
    path = f"/v1/packs/Text_Tools/1.0/{NAME}"
    answer = index.ask("PUT", path, token=index.token, body=a_wheel())
    assert (answer.status, answer.json["created"]) == (201, True)
    assert upload(index, a_wheel(), NAME).json["created"] is False
    assert index.ask("PUT", path, token=index.token, body=a_wheel()).status == 200
    assert index.ask("PUT", path, token=index.token, body=a_wheel(extra={"text_tools/x.py": b""})).status == 409
    assert index.ask("PUT", f"/v1/packs/other/1.0/{NAME}", token=index.token, body=a_wheel()).status == 400


def test_upload_is_in_the_audit(index: AnIndex) -> None:
    upload(index, a_wheel(), NAME)
    with index.parts.database.read() as connection:
        rows = connection.exec_driver_sql("SELECT publisher, subject, details FROM audit WHERE act = 'publish'").all()
    assert [(row[0], row[1], json.loads(row[2])["file"]) for row in rows] == [("acme", "text-tools 1.0.0", NAME)]


def test_upload_needs_a_token_even_where_reading_needs_none(tmp_path: Path) -> None:
    with an_index(tmp_path / "data") as index:
        assert index.get("/simple/").status == 200
        assert upload(index, a_wheel(), NAME, token="").status == 401
