"""An index in memory that implements the client's `Transport`: the far side of the protocol, without HTTP and without a server.

It keeps the rules that clients depend on: immutable releases, owners of names, tokens, problem errors. `refuse_next` makes it fail.
"""

from __future__ import annotations

import hashlib
import io
import json
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, BinaryIO
from urllib.parse import parse_qs, unquote, urlsplit

from market.client import wire
from market.errors import Conflict, MarketError, NotFound, Refused, Unauthenticated
from market.pack.entry import resolve_entry
from market.pack.inspect import Given
from market.pack.record import dump_record
from market.trust.verify import VerifiedPack, verify_archive, verify_made, verify_wheel

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from market.model import Needs, Skill

URL = "http://index.test"
TOKEN = "skm_alice"
PUBLISHED_AT = "2026-01-01T00:00:00Z"


@dataclass
class FakeRelease:
    """One release: its archive and what it says of itself."""

    verified: VerifiedPack
    archive: bytes
    state: str = "live"
    yanked_reason: str = ""
    published_at: str = PUBLISHED_AT
    filename: str = ""

    @property
    def link(self) -> wire.ArchiveLink:
        return wire.ArchiveLink(
            self.verified.archive_digest,
            len(self.archive),
            wire.blob_link(self.verified.archive_digest, depth=3),
            "wheel" if self.filename else "archive",
            self.filename,
        )


    @property
    def metadata(self) -> bytes:
        source = self.verified.source
        return source.read(next(file.path for file in source.files() if file.path.endswith(".dist-info/METADATA")))

    @property
    def files(self) -> tuple[wire.FileLink, ...]:
        if not self.filename:
            return ()
        digest = f"sha256:{hashlib.sha256(self.metadata).hexdigest()}"
        link = self.link
        return (wire.FileLink("wheel", self.filename, link.digest, link.size, link.url, self.published_at, metadata_digest=digest),)


@dataclass
class FakeIndex:
    """The packs of one index, by name and version; `tokens` says whose each token is. `requests` lists what was asked for."""

    tokens: dict[str, str] = field(default_factory=lambda: {TOKEN: "alice"})
    releases: dict[str, dict[str, FakeRelease]] = field(default_factory=dict)
    owners: dict[str, str] = field(default_factory=dict)
    requests: list[tuple[str, str, str]] = field(default_factory=list)
    refuse_next: MarketError | None = None
    clock: datetime | None = None
    change_answer: Callable[[str, object], object] = lambda path, answer: answer
    change_archive: Callable[[bytes], bytes] = lambda archive: archive

    def get_json(self, url: str, token: str = "") -> object:
        path, query = self._enter("GET", url, token)
        return self.change_answer(path, _through_json(self._find(path, query, token)))

    def read_clock(self, url: str) -> datetime | None:
        self._enter("GET", url, "")
        return self.clock

    def download(self, url: str, token: str, out: BinaryIO, limit_bytes: int) -> int:
        path, _ = self._enter("GET", url, token)
        for versions in self.releases.values():
            for release in versions.values():
                if path == wire.blob_path(release.verified.archive_digest):
                    out.write(self.change_archive(release.archive)[out.tell() :])
                    return out.tell()
                if release.filename and path == f"{wire.blob_path(release.verified.archive_digest)}.metadata":
                    out.write(release.metadata)
                    return out.tell()
        raise NotFound(f"there is no blob at {path}")

    def put(self, url: str, stream: BinaryIO, size: int, token: str, content_type: str) -> object:
        path, _ = self._enter("PUT", url, token)
        publisher = self._publisher(token)
        _, _, _, name, version, *filename = path.split("/")
        stream.seek(0)
        archive = stream.read()
        assert len(archive) == size and content_type == (wire.FILE_TYPE if filename else wire.ARCHIVE_TYPE)
        if filename:
            verified = verify_wheel(io.BytesIO(archive), filename[0])
        else:
            verified = verify_archive(io.BytesIO(archive), Given(name=name, version=version))
        return _through_json(self._publish(publisher, verified, archive, *filename))

    def post_json(self, url: str, body: object, token: str = "") -> object:
        path, _ = self._enter("POST", url, token)
        assert isinstance(body, dict)
        return self._change_state(path, token, "yanked", body["reason"])

    def delete_json(self, url: str, token: str = "") -> object:
        path, _ = self._enter("DELETE", url, token)
        return self._change_state(path, token, "live", "")

    def _change_state(self, path: str, token: str, state: str, reason: str) -> object:
        self._publisher(token)
        _, _, _, name, version, _ = path.split("/")
        release = next(
            (one for one in self.releases.get(name, {}).values() if str(one.verified.version) == version), None
        )
        if release is None:
            raise NotFound(f"there is no release {version} of {name}")
        changed = (release.state, release.yanked_reason) != (state, reason)
        release.state, release.yanked_reason = state, reason
        return _through_json(wire.Yanked(name, version, state, reason, changed))

    def add(
        self, archive: bytes, *, publisher: str = "alice", version: str = "", is_strict: bool = True
    ) -> VerifiedPack:
        """Publish an archive without asking for a token. One that isn't strict takes also what only Market itself may make."""
        verified = (verify_archive if is_strict else verify_made)(io.BytesIO(archive), Given(version=version))
        self._publish(publisher, verified, archive)
        return verified

    def _enter(self, method: str, url: str, token: str) -> tuple[str, dict[str, list[str]]]:
        parts = urlsplit(url)
        self.requests.append((method, url, token))
        if self.refuse_next is not None:
            error, self.refuse_next = self.refuse_next, None
            raise error
        if token and token not in self.tokens:
            raise Unauthenticated("the token isn't known", hint="log in again")
        return unquote(parts.path), parse_qs(parts.query)

    def _publisher(self, token: str) -> str:
        if not token:
            raise Unauthenticated("publishing needs a token", hint="log in")
        return self.tokens[token]

    def _publish(self, publisher: str, verified: VerifiedPack, archive: bytes, filename: str = "") -> wire.Published:
        if self.owners.setdefault(verified.name, publisher) != publisher:
            raise Refused(f"{verified.name} belongs to {self.owners[verified.name]}")
        versions = self.releases.setdefault(verified.name, {})
        same = versions.get(verified.version.canonical)
        if same is not None and same.verified.tree_digest != verified.tree_digest:
            raise Conflict(f"{verified.name} {verified.version} is there with another tree", hint="raise the version")
        created = (
            versions.setdefault(verified.version.canonical, FakeRelease(verified, archive, filename=filename))
            is not same
        )
        url = wire.release_path(verified.name, verified.version.text)
        return wire.Published(
            verified.name, verified.version.text, publisher, verified.tree_digest, verified.archive_digest, url, created
        )

    def _find(self, path: str, query: dict[str, list[str]], token: str) -> object:
        if path == wire.whoami_path():
            return wire.WhoAmI(self._publisher(token), ("publish",), token[:8])
        if path in (wire.packs_path(), wire.search_path()):
            return self._list(query.get("q", [""])[0], int(query.get("limit", ["20"])[0]))
        for name, versions in self.releases.items():
            if path == wire.pack_path(name):
                return self._pack(name, list(versions.values()))
            for release in versions.values():
                if path == wire.release_path(name, release.verified.version.text):
                    return self._release(release)
        raise NotFound(f"there is nothing at {path}")

    def _list(self, words: str, limit: int) -> wire.PackList:
        documents = [self._pack(name, list(versions.values())) for name, versions in sorted(self.releases.items())]
        found = [
            one
            for one in documents
            if all(word in f"{one.name} {one.summary}".lower() for word in words.lower().split())
        ]
        rows = [
            wire.PackSummary(one.name, one.latest, one.publisher, one.summary, one.updated_at, f"/packs/{one.name}")
            for one in found
        ]
        return wire.PackList(tuple(rows[:limit]), len(rows))

    def _pack(self, name: str, releases: list[FakeRelease]) -> wire.PackDocument:
        ordered = sorted(releases, key=lambda one: one.verified.version, reverse=True)
        live = [one for one in ordered if one.state == "live"]
        latest = live[0].verified.version.text if live else ""
        summary = ordered[0].verified.pack.summary
        return wire.PackDocument(
            name, self.owners[name], summary, latest, PUBLISHED_AT, tuple(self._row(one) for one in ordered)
        )

    def _row(self, release: FakeRelease) -> wire.ReleaseSummary:
        verified = release.verified
        requires = tuple(str(one) for one in verified.pack.requires)
        url = f"{verified.version}/index.json"
        return wire.ReleaseSummary(
            verified.version.text,
            release.state,
            release.published_at,
            verified.tree_digest,
            release.link,
            url,
            release.yanked_reason,
            requires,
            dump_needs(verified.pack.needs),
        )

    def _release(self, release: FakeRelease) -> wire.ReleaseDocument:
        verified = release.verified
        skills = tuple(_summarise(skill) for skill in verified.pack.skills)
        return wire.ReleaseDocument(
            name=verified.name,
            version=verified.version.text,
            publisher=self.owners[verified.name],
            state=release.state,
            published_at=release.published_at,
            kind=verified.pack.kind,
            summary=verified.pack.summary,
            tree_digest=verified.tree_digest,
            archive=release.link,
            skills=skills,
            record=list(dump_record(verified.record)),
            yanked_reason=release.yanked_reason,
            requires=tuple(str(one) for one in verified.pack.requires),
            needs=dump_needs(verified.pack.needs),
            files=release.files,
        )


def _summarise(skill: Skill) -> wire.SkillSummary:
    command = skill.command
    entry = (resolve_entry(skill.folder, command.entry) or "") if command else ""
    return wire.SkillSummary(
        skill.name,
        skill.kind,
        skill.skill_class,
        skill.description,
        skill.folder,
        skill.category,
        entry,
        command.env_allow if command else (),
        dump_needs(skill.needs),
    )


def dump_needs(needs: Needs) -> dict[str, object]:
    return {name: value for name, value in asdict(needs).items() if value}


def _through_json(document: object) -> object:
    return json.loads(json.dumps(wire.dump_document(document)))


def an_index_with(*archives: bytes) -> FakeIndex:
    """An index on which alice has published these archives."""
    index = FakeIndex()
    for archive in archives:
        index.add(archive)
    return index


@dataclass
class FakeNetwork:
    """Several indexes behind one transport, by origin. `requests` are those of all of them, in their order."""

    indexes: dict[str, FakeIndex]
    requests: list[tuple[str, str, str]] = field(default_factory=list)

    def get_json(self, url: str, token: str = "") -> object:
        return self._at("GET", url, token).get_json(url, token)

    def download(self, url: str, token: str, out: BinaryIO, limit_bytes: int) -> int:
        return self._at("GET", url, token).download(url, token, out, limit_bytes)

    def put(self, url: str, stream: BinaryIO, size: int, token: str, content_type: str) -> object:
        return self._at("PUT", url, token).put(url, stream, size, token, content_type)

    def post_json(self, url: str, body: object, token: str = "") -> object:
        return self._at("POST", url, token).post_json(url, body, token)

    def delete_json(self, url: str, token: str = "") -> object:
        return self._at("DELETE", url, token).delete_json(url, token)

    def _at(self, method: str, url: str, token: str) -> FakeIndex:
        self.requests.append((method, url, token))
        parts = urlsplit(url)
        return self.indexes[f"{parts.scheme}://{parts.netloc}"]
