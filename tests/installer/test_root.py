from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from market.disk.home import Home
from market.installer.root import default_roots, open_root, parse_root_list

HOME = Home(Path("/home/me/market"))


def test_colon_and_comma_separate_and_relative_entries_are_skipped() -> None:
    listed = parse_root_list("/a/b: /c ,relative/x,,/a/b/,~/skills:/d/../e")
    assert listed.paths == (Path("/a/b"), Path("/c"), Path("/e"))
    assert [entry for entry, _ in listed.skipped] == ["relative/x", "~/skills"]
    assert all("not an absolute path" in why for _, why in listed.skipped)
    assert parse_root_list("") == parse_root_list(" :, ") == parse_root_list("")


@given(st.lists(st.from_regex(r"/[a-z]{1,4}(/[a-z]{1,3})?", fullmatch=True), unique=True), st.sampled_from(":,"))
def test_absolute_paths_come_back_in_order(paths: list[str], separator: str) -> None:
    assert parse_root_list(separator.join(paths)).paths == tuple(map(Path, paths))


def test_both_variables_count_and_none_means_the_own_root() -> None:
    environ = {"ONGRID_SKILLS_EXTERNAL_DIRS": "/b,/a,x", "MARKET_ROOTS": "/a"}
    assert default_roots(environ, HOME).paths == (Path("/a"), Path("/b"))
    assert [entry for entry, _ in default_roots(environ, HOME).skipped] == ["x"]
    assert default_roots({}, HOME).paths == default_roots({"MARKET_ROOTS": "x"}, HOME).paths == (HOME.skills,)


def test_a_relative_root_is_made_absolute_and_created(tmp_path: Path, monkeypatch: object) -> None:
    root = open_root(tmp_path / "a" / ".." / "b" / "c", create=True)
    assert root.path == tmp_path / "b" / "c"
    assert root.path.is_dir()
    assert open_root(root.path, create=True) == open_root(root.path, create=False) == root
    assert {path.parent for path in (root.lock, root.intents, root.receipts, root.staging)} == {root.state}
    assert not root.state.exists()
