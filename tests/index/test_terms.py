from __future__ import annotations

import sqlite3

from hypothesis import given, settings
from hypothesis import strategies as st

from index.settings import MAX_QUERY_CHARACTERS, MAX_QUERY_TERMS
from index.terms import parse_query, stored_text


def test_pairs_of_a_run() -> None:
    assert stored_text("用检查x").split() == ["用检", "检查", "查", "x"]
    assert stored_text("plain words") == "plain words"


def test_query_of_several_scripts() -> None:
    match = parse_query("python检查 fo")
    assert match is not None
    assert match.words == '"python" "检查" "fo"'
    assert match.beginnings == '"python" "检查" "fo" *'


def test_no_term_no_query() -> None:
    assert parse_query("") is None
    assert parse_query(" -!? _ ") is None


def test_query_is_capped() -> None:
    match = parse_query(" ".join(["w"] * 100))
    assert match is not None
    assert match.words.count('"w"') == MAX_QUERY_TERMS
    long = parse_query("x" * 10_000)
    assert long is not None
    assert len(long.words) == MAX_QUERY_CHARACTERS + 2


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=60), st.text(max_size=60))
def test_any_text_can_be_stored_and_any_query_asked(stored: str, asked: str) -> None:
    database = sqlite3.connect(":memory:")
    database.execute("CREATE VIRTUAL TABLE search USING fts5(words, tokenize = 'porter unicode61 remove_diacritics 2', prefix = '2 3')")
    database.execute("INSERT INTO search VALUES (?)", (stored_text(stored.encode(errors="ignore").decode()),))
    match = parse_query(asked)
    if match is not None:
        for expression in (match.words, match.beginnings):
            database.execute("SELECT rowid FROM search WHERE search MATCH ?", (expression,)).fetchall()


@given(st.text(alphabet="检查磁盘网络abc ", min_size=1, max_size=30))
def test_a_text_is_found_by_each_of_its_words(text: str) -> None:
    database = sqlite3.connect(":memory:")
    database.execute("CREATE VIRTUAL TABLE search USING fts5(words, tokenize = 'porter unicode61 remove_diacritics 2')")
    database.execute("INSERT INTO search VALUES (?)", (stored_text(text),))
    for word in text.split():
        match = parse_query(word)
        assert match is not None
        assert database.execute("SELECT count(*) FROM search WHERE search MATCH ?", (match.words,)).fetchone() == (1,), (text, word)
