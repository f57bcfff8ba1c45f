from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import quote, urljoin

import pytest

from tests.factories import RUN_SCRIPT, a_skill_json, a_source
from tests.index.builders import AnIndex, a_described_source

if TYPE_CHECKING:
    from collections.abc import Iterator


def names(index: AnIndex, query: str) -> list[str]:
    return [item["name"] for item in index.get(f"/v1/search?q={quote(query, safe='%')}").json["items"]]


def publish(index: AnIndex, name: str, description: str, skill: str = "a_skill") -> None:
    index.clock.move(seconds=1)
    assert index.publish(a_described_source(description, name=skill), name=name).status == 201


def pages(index: AnIndex, url: str) -> Iterator[list[str]]:
    while url:
        document = index.get(url).json
        yield [item["name"] for item in document["items"]]
        url = urljoin(url, document["next"]) if document["next"] else ""


def test_empty_index(index: AnIndex) -> None:
    nothing = {"items": [], "total": 0, "next": "", "near": []}
    assert index.get("/v1/packs").json == {**nothing, "packs": None}
    assert index.get("/v1/search?q=x").json == {**nothing, "packs": 0}
    assert index.get("/v1/search").json == {**nothing, "packs": 0}


def test_list_is_by_last_publish_and_pages_follow_each_other(index: AnIndex) -> None:
    for number in range(5):
        publish(index, f"pack-{number}", "Something.")
    index.clock.move(seconds=1)
    index.publish(a_described_source("Changed."), name="pack-1", version="2.0.0")
    assert list(pages(index, "/v1/packs?limit=2")) == [["pack-1", "pack-4"], ["pack-3", "pack-2"], ["pack-0"]]
    assert index.get("/v1/packs?limit=2").json["total"] == 5


def test_search_pages_follow_each_other_in_one_order(index: AnIndex) -> None:
    for number in range(5):
        publish(index, f"disk-{number}", "Cleans the disk.")
    together = names(index, "disk")
    assert len(together) == 5
    assert [name for page in pages(index, "/v1/search?q=disk&limit=2") for name in page] == together


@pytest.mark.parametrize("url", ["/v1/packs?limit=0", "/v1/packs?limit=x", "/v1/packs?limit=-1", "/v1/packs?limit=²", "/v1/packs?cursor=%21%21", "/v1/packs?cursor=YWI", "/v1/search?q=a&cursor=-1", "/v1/search?q=a&cursor=99999999999", "/v1/search?q=" + "a" * 201])
def test_odd_parameters_are_refused(index: AnIndex, url: str) -> None:
    publish(index, "one", "Something.")
    assert index.get(url).status == 422


def test_too_large_limit_means_the_largest(index: AnIndex) -> None:
    publish(index, "one", "Something.")
    assert index.get("/v1/packs?limit=99999999999999").json["total"] == 1


def test_exact_name_comes_first_then_names_then_texts(index: AnIndex) -> None:
    publish(index, "probe-disk-deeply", "Looks at many things at great length, one after the other, in no order that anybody could name.")
    publish(index, "other", "A disk, the disk, disk by disk.")
    publish(index, "disk", "Nothing to see here, though it takes many words to say so, and then some more words on top of these.")
    publish(index, "diskette", "Old medium.")
    publish(index, "disk-disk", "Twice.")
    assert names(index, "disk") == ["disk", "disk-disk", "probe-disk-deeply", "other", "diskette"]
    assert names(index, "Disk") == names(index, "disk")


def test_exact_name_is_found_in_any_spelling(index: AnIndex) -> None:
    publish(index, "my-tool", "Something.")
    assert names(index, "My_Tool")[0] == "my-tool"
    assert names(index, "my.tool")[0] == "my-tool"


def test_skill_names_and_keywords_are_found(index: AnIndex) -> None:
    publish(index, "pack-a", "Something.", skill="purge_caches")
    manifest = b"name: pack-b\nversion: 1.0.0\nsummary: Else.\nkeywords: [kubernetes]\n"
    index.publish(a_source({"pack.yaml": manifest, "skill.json": a_skill_json(), "run.sh": RUN_SCRIPT}), name="pack-b")
    assert names(index, "purge_caches") == ["pack-a"]
    assert names(index, "kubernetes") == ["pack-b"]


def test_last_word_may_be_half_typed_and_all_words_must_occur(index: AnIndex) -> None:
    publish(index, "pack-a", "Cleans journals of the system.")
    publish(index, "pack-b", "Reads journals.")
    assert sorted(names(index, "journ")) == ["pack-a", "pack-b"]
    assert names(index, "journals%20clea") == ["pack-a"]
    assert names(index, "cleaning") == ["pack-a"]
    assert names(index, "journals%20absent") == []


@pytest.mark.parametrize("query", ["磁盘", "清理", "清理磁盘", "盘", "磁", "disk%20磁盘"])
def test_chinese_words_are_found_though_nothing_parts_them(index: AnIndex, query: str) -> None:
    publish(index, "pack-a", "快速清理磁盘空间 on a disk")
    publish(index, "pack-b", "检查网络 on a disk")
    assert names(index, query)[0] == "pack-a"
    assert "pack-b" not in names(index, query)


def test_characters_that_stand_apart_are_no_word(index: AnIndex) -> None:
    publish(index, "pack-a", "磁性的圆盘")
    assert names(index, "磁盘") == []


@pytest.mark.parametrize("query", ['"', "'", "*", "a*b", "NEAR(a b)", "a OR", "-", "name:x", "^x", "(", "a AND NOT b", "%00", "\\", "{a}", "a+b", "😀", "%", "a;DROP TABLE packs"])
def test_query_syntax_means_nothing(index: AnIndex, query: str) -> None:
    publish(index, "pack-a", "Something.")
    assert index.get(f"/v1/search?q={query.replace('+', '%2B').replace(' ', '%20').replace('%', '%25') if query != '%00' else query}").status == 200
    assert index.get("/v1/packs").json["total"] == 1


def test_page_shows_the_same_order_as_the_api(index: AnIndex) -> None:
    for name, description in [("disk-b", "Disk."), ("alpha", "disk disk disk"), ("disk", "x"), ("zeta", "The disk at last.")]:
        publish(index, name, description)
    for url, api in [("/?q=disk", "/v1/search?q=disk"), ("/", "/v1/packs")]:
        shown = re.findall(r'<h2><a href="./packs/([a-z-]+)">', index.get(url).text)
        assert shown == [item["name"] for item in index.get(api).json["items"]]
        assert len(shown) == 4


def test_words_find_the_name_that_joins_them_and_the_other_way_round(index: AnIndex) -> None:
    publish(index, "pdf-tools", "Splits files.")
    publish(index, "pdftools", "Another one.")
    assert names(index, "pdf tools") == ["pdf-tools", "pdftools"]
    assert names(index, "pdftools") == ["pdftools", "pdf-tools"]
    assert names(index, "pd ftools") == ["pdftools", "pdf-tools"]


@pytest.mark.parametrize(("query", "near"), [("checkpiont", ["checkpoint"]), ("dsik cleaner", ["disk-cleaner"]), ("zzz", []), ("磁盘", []), ("' OR 1=1 --", [])])
def test_an_empty_result_says_what_there_is(index: AnIndex, query: str, near: list[str]) -> None:
    publish(index, "checkpoint", "Saves.")
    publish(index, "disk-cleaner", "Cleans.")
    answer = index.get(f"/v1/search?q={quote(query)}").json
    assert (answer["items"], answer["packs"], answer["near"]) == ([], 2, near)
    page = index.get(f"/?q={quote(query)}").body.decode()
    assert "among 2 packs" in page and all(f'href="./packs/{name}"' in page for name in near)
