"""Text as search terms, the same for what is stored and for what is asked. Pure; the SQL is in `index.store.search`.

Chinese, Japanese and Korean words aren't parted by spaces, so a run of such characters becomes its pairs: `检查磁盘` is stored as
`检查 查磁 磁盘 盘`, and asked as the phrase `检查 查磁 磁盘`. (Trigrams would find no word of two characters.)
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from index.settings import MAX_QUERY_CHARACTERS, MAX_QUERY_TERMS

_CJK = "\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
# What a misspelt word still shares with the right one; the search table keeps beginnings of this length ready.
_NEAR_LETTERS = 2
_RUN = re.compile(f"[{_CJK}]+")
_TERM = re.compile(f"[{_CJK}]+|[^\\W_{_CJK}]+")


@dataclass(frozen=True, slots=True)
class Match:
    """A query for FTS5: `words` wants every word whole, `beginnings` takes the last one as half-typed.

    `joined` is the words as one, `near` wants any word that begins like one of them; both are for names only, and may be empty.
    """

    words: str
    beginnings: str
    joined: str = ""
    near: str = ""


def stored_text(text: str) -> str:
    """Return text in the form in which it is indexed.

    >>> stored_text("clean 磁盘!")
    'clean  磁盘 盘 !'
    """
    return _RUN.sub(lambda run: f" {' '.join([*_pairs(run[0]), run[0][-1]])} ", text)


def name_terms(name: str) -> str:
    """Return a pack's name as it is indexed: its words, and all of them as one.

    >>> name_terms("pdf-tools")
    'pdf-tools pdftools'
    """
    return f"{name} {name.replace('-', '')}" if "-" in name else name


def parse_query(text: str) -> Match | None:
    """Return what to ask for, or None where the text has no term. Length and number of terms are capped, so that cost is too.

    >>> parse_query("Disk clean")
    Match(words='"disk" "clean"', beginnings='"disk" "clean" *', joined='"diskclean"', near='"di" * OR "cl" *')
    """
    terms = _TERM.findall(text[:MAX_QUERY_CHARACTERS].casefold())[:MAX_QUERY_TERMS]
    if not terms:
        return None
    phrases = [_phrase(term) for term in terms]
    beginnings = " ".join([*phrases[:-1], f"{_phrase(terms[-1]).removesuffix(' *')} *"])
    plain = [term for term in terms if term.isascii()]
    joined = f'"{"".join(terms)}"' if len(plain) == len(terms) else ""
    return Match(" ".join(phrases), beginnings, joined, " OR ".join(f'"{term[:_NEAR_LETTERS]}" *' for term in plain))


def _phrase(term: str) -> str:
    if not _RUN.fullmatch(term):
        return f'"{term}"'
    # A single character begins the pairs that it stands in, and is stored by itself where it ends a run.
    return f'"{" ".join(_pairs(term))}"' if len(term) > 1 else f'"{term}" *'


def _pairs(run: str) -> list[str]:
    return [run[start : start + 2] for start in range(len(run) - 1)]
