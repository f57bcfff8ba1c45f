"""What a list says. Where it stands is in `settings`."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase

NOBODY = "-"


@dataclass(frozen=True, slots=True)
class Asked:
    """What shall be installed or run: a pack's name, who published it (empty for nobody), and the classes of skills in question."""

    pack: str
    publisher: str
    classes: frozenset[str]


@dataclass(frozen=True, slots=True)
class AllowList:
    """The conditions of one act; all must hold. None is no condition, an empty list is one that nothing meets."""

    packs: tuple[str, ...] | None = None
    publishers: tuple[str, ...] | None = None
    classes: tuple[str, ...] | None = None

    def find_objection(self, asked: Asked) -> str:
        """Return why this isn't on the list, or an empty text."""
        if self.packs is not None and not _matches(asked.pack, self.packs):
            return f"the pack {asked.pack} is not on the list"
        if self.publishers is not None and not _matches(asked.publisher or NOBODY, self.publishers):
            return (
                f"the publisher {asked.publisher} is not on the list"
                if asked.publisher
                else "nobody vouches as its publisher"
            )
        outside = sorted(asked.classes - set(self.classes)) if self.classes is not None else []
        return f"skills of class {', '.join(outside)} are not on the list" if outside else ""


def _matches(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)
