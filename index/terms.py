"""Text as search terms, the same for what is stored and for what is asked. Pure; the SQL is in `index.store.search`.

Chinese, Japanese and Korean words aren't parted by spaces, so a run of such characters becomes its pairs: `检查磁盘` is stored as
`检查 查磁 磁盘 盘`, and asked as the phrase `检查 查磁 磁盘`. (Trigrams would find no word of two characters.)
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from index.settings import MAX_QUERY_CHARACTERS, MAX_QUERY_TERMS

_CJK = "\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
_RUN = re.compile(f"[{_CJK}]+")
_TERM = re.compile(f"[{_CJK}]+|[^\\W_{_CJK}]+")


@dataclass(frozen=True, slots=True)
class Match:
    """A query for FTS5: `words` wants every word whole, `beginnings` takes the last one as half-typed."""

    words: str
    beginnings: str


def stored_text(text: str) -> str:
    """Return text in the form in which it is indexed.

    >>> stored_text("clean 磁盘!")
    'clean  磁盘 盘 !'
    """
    return _RUN.sub(lambda run: f" {' '.join([*_pairs(run[0]), run[0][-1]])} ", text)


def parse_query(text: str) -> Match | None:
    """Return what to ask for, or None where the text has no term. Length and number of terms are capped, so that cost is too.

    >>> parse_query("Disk clean")
    Match(words='"disk" "clean"', beginnings='"disk" "clean" *')
    """
    terms = _TERM.findall(text[:MAX_QUERY_CHARACTERS].casefold())[:MAX_QUERY_TERMS]
    if not terms:
        return None
    phrases = [_phrase(term) for term in terms]
    return Match(" ".join(phrases), " ".join([*phrases[:-1], f"{_phrase(terms[-1]).removesuffix(' *')} *"]))


def _phrase(term: str) -> str:
    if not _RUN.fullmatch(term):
        return f'"{term}"'
    # A single character begins the pairs that it stands in, and is stored by itself where it ends a run.
    return f'"{" ".join(_pairs(term))}"' if len(term) > 1 else f'"{term}" *'


def _pairs(run: str) -> list[str]:
    return [run[start : start + 2] for start in range(len(run) - 1)]
