"""Several indexes: who is asked for which name, with which token, and that a name of ours can't be had from strangers."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from market.errors import Unauthenticated, Unavailable
from market.pack.archive_write import write_archive
from market.pack.source import MemorySource
from tests.factories import a_skill_md
from tests.fake_index import FakeIndex, FakeNetwork

if TYPE_CHECKING:
    from tests.cli.shell import Shell

PUBLIC, WORK = "http://public.test", "http://work.test"
CONFIG = f"""
[[index]]
name = "public"
url = "{PUBLIC}"

[[index]]
name = "work"
url = "{WORK}"
packs = ["acme-*"]
token = "env:WORK_TOKEN"
"""


@dataclass
class Both:
    """A public index and one of ours, and a shell that knows both."""

    shell: Shell
    public: FakeIndex
    work: FakeIndex
    network: FakeNetwork

    def asked(self, name: str) -> list[str]:
        """The indexes that were asked for a pack, in their order."""
        return [url.partition("/v1/")[0] for _, url, _ in self.network.requests if f"/v1/packs/{name}/index" in url]


@pytest.fixture
def both(shell: Shell) -> Both:
    public, work = FakeIndex(), FakeIndex(tokens={"skm_work": "acme"})
    network = FakeNetwork({PUBLIC: public, WORK: work})
    shell.index = network  # type: ignore[assignment]
    shell.home.path.mkdir()
    shell.home.config.write_text(CONFIG)
    shell.environ.update(MARKET_INDEX_URL="", MARKET_TOKEN="", WORK_TOKEN="skm_work")
    return Both(shell, public, work, network)


def an_archive(name: str, version: str = "1.0.0", *requires: str) -> bytes:
    manifest = f"name: {name}\nversion: {version}\nsummary: x\nrequires: [{', '.join(requires)}]\n".encode()
    out = io.BytesIO()
    files = {"pack.yaml": manifest, "SKILL.md": a_skill_md(name).replace(b"1.0.0", version.encode())}
    write_archive(MemorySource(files, executables=frozenset()), out)
    return out.getvalue()


def test_a_name_that_we_keep_is_asked_for_at_home_only(both: Both) -> None:
    both.work.add(an_archive("acme-kit"))
    both.public.add(an_archive("acme-kit", "99.0"), publisher="mallory")
    item = both.shell("install", "acme-kit", "--json").json["items"][0]
    assert (item["version"], item["origin"]["index"]) == ("1.0.0", WORK)
    assert both.asked("acme-kit") == [WORK]


def test_also_when_home_does_not_know_it(both: Both) -> None:
    both.public.add(an_archive("acme-new", "99.0"), publisher="mallory")
    both.shell("install", "acme-new", expect=3)
    assert both.asked("acme-new") == [WORK]


def test_also_as_something_that_a_stranger_s_pack_requires(both: Both) -> None:
    both.public.add(an_archive("acme-kit", "99.0"), publisher="mallory")
    both.public.add(an_archive("app", "1.0.0", "acme-kit"))
    assert "acme-kit, which is required" in both.shell("install", "app", expect=3).err
    both.work.add(an_archive("acme-kit"))
    done = both.shell("install", "app", "--json").json["items"]
    assert [(row["name"], row["version"], row["origin"]["index"]) for row in done] == [
        ("app", "1.0.0", PUBLIC),
        ("acme-kit", "1.0.0", WORK),
    ]
    assert PUBLIC not in both.asked("acme-kit")


def test_also_with_a_flag_or_variable_that_names_another_index(both: Both) -> None:
    both.public.add(an_archive("acme-kit", "99.0"), publisher="mallory")
    assert "keeps acme-kit on the index work" in both.shell("install", "acme-kit", "--index", "public", expect=4).err
    both.shell.environ["MARKET_INDEX_URL"] = PUBLIC
    both.shell("install", "acme-kit", expect=3)
    assert both.asked("acme-kit") == [WORK]


def test_also_when_an_installed_pack_is_upgraded(both: Both) -> None:
    both.shell.home.config.write_text(f'[[index]]\nname = "public"\nurl = "{PUBLIC}"\n')
    both.public.add(an_archive("acme-kit"))
    both.shell("install", "acme-kit")
    both.shell.home.config.write_text(CONFIG)
    both.public.add(an_archive("acme-kit", "2.0.0"))
    both.network.requests.clear()
    both.shell("upgrade", expect=3)
    assert both.asked("acme-kit") == [WORK]


def test_it_is_not_published_to_strangers_either(both: Both) -> None:
    guide = {"pack.yaml": b"name: acme-kit\nversion: 1.0.0\nsummary: x\n", "SKILL.md": a_skill_md("acme-kit")}
    both.shell.pack("acme-kit", files=guide)
    assert (
        "keeps acme-kit on the index work"
        in both.shell("publish", "acme-kit", "--index", "public", "--token", "skm_alice", expect=4).err
    )
    assert both.public.releases == {}
    both.shell("publish", "acme-kit", "--index", "work")
    assert "acme-kit" in both.work.releases


def test_each_token_goes_to_its_own_index_only(both: Both) -> None:
    both.work.add(an_archive("acme-kit"))
    both.public.add(an_archive("app", "1.0.0", "acme-kit"))
    both.shell("install", "app", "--token", "skm_alice")
    sent = {(url.partition("/v1/")[0], token) for _, url, token in both.network.requests}
    assert sent == {(PUBLIC, "skm_alice"), (WORK, "skm_work")}


def test_a_token_that_is_missing_is_said_before_anybody_is_asked(both: Both) -> None:
    del both.shell.environ["WORK_TOKEN"]
    error = both.shell("install", "acme-kit", "--json", expect=6).error
    assert "the index 'work' has no token" in error["message"] and error["why"] == "the variable WORK_TOKEN is not set"
    assert both.network.requests == []


@pytest.fixture
def two_open(both: Both) -> Both:
    """Two indexes without patterns, asked in their order."""
    both.shell.home.config.write_text(
        f'[[index]]\nname = "work"\nurl = "{WORK}"\n\n[[index]]\nname = "public"\nurl = "{PUBLIC}"\n'
    )
    return both


def test_the_first_index_that_knows_a_name_has_it_whatever_is_newer_elsewhere(two_open: Both) -> None:
    two_open.work.add(an_archive("kit"))
    two_open.public.add(an_archive("kit", "9.0"), publisher="mallory")
    two_open.public.add(an_archive("other"))
    done = two_open.shell("install", "kit", "other", "--json").json["items"]
    assert [(row["version"], row["origin"]["index"]) for row in done] == [("1.0.0", WORK), ("1.0.0", PUBLIC)]
    assert two_open.asked("kit") == [WORK] and two_open.asked("other") == [WORK, PUBLIC]
    two_open.shell("install", "kit>=9", expect=3)
    assert PUBLIC not in two_open.asked("kit")


@pytest.mark.parametrize(("error", "code"), [(Unauthenticated("who are you"), 6), (Unavailable("not now"), 7)])
def test_an_index_that_refuses_or_fails_is_never_not_here(two_open: Both, error: Exception, code: int) -> None:
    two_open.public.add(an_archive("kit", "9.0"), publisher="mallory")
    two_open.work.refuse_next = error  # type: ignore[assignment]
    two_open.shell("install", "kit", expect=code)
    assert two_open.asked("kit") == [WORK]


def test_what_no_index_knows_names_all_that_were_asked(two_open: Both) -> None:
    assert two_open.shell("install", "nothing", "--json", expect=3).error["why"] == f"asked {WORK}, {PUBLIC}"
