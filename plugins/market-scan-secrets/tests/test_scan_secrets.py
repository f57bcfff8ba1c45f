"""Secrets are found with their place, and what only looks like one isn't."""

from __future__ import annotations

from pathlib import Path

import pytest

from market.errors import InvalidInput, Problem, Severity
from market.model import Pack
from market.names import PackName, parse_version
from market.pack.scan_limits import MAX_SCANNED_BYTES
from market.pack.source import MemorySource
from market.plugins.find import check_plugin, make_manager
from market_scan_secrets import plugin
from market_scan_secrets.settings import ScanSettings, load_settings

REPOSITORY = Path(__file__).parents[3]
# Put together here, so that no scanner takes this file for a leak.
TOKEN = "ghp_" + "q8Zr4Kd0VbN1mXw7Lc3Ty6Ho2Sj9Pf5GuEaI"
PACK = Pack(PackName("a-pack"), parse_version("1.0.0"), "skill")


def scan(text: str) -> list[Problem]:
    return list(plugin.scan("a-pack", MemorySource({"run.sh": text.encode()}), ScanSettings()))


def test_its_hooks_are_hooks_of_market() -> None:
    assert [one.hook for one in check_plugin(make_manager(), "x", plugin)] == ["scan_pack"]


def test_a_token_is_found_with_its_place_and_never_shown() -> None:
    (found,) = scan(f"#!/bin/sh\nexport  T={TOKEN}\n")
    assert (found.file, found.line, found.column, found.severity) == ("run.sh", 2, 11, Severity.ERROR)
    assert TOKEN not in str(found)
    assert "env_allow" in found.fix


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("url = https://bob:hx7Qm2pLw9@db.internal/x", (1, 19)),
        ("a\nb\n  postgresql+psycopg://u:k3Jq8vTz@10.0.0.1/db", (3, 26)),
        ("password = 'mW4x9Kp2vQ'", (1, 13)),
        ('CLIENT_SECRET="aZ3kLp9Qw8"', (1, 16)),
        ('\u00e9\u00e9 passwd="pL0kj8Hg"', (1, 12)),
    ],
)
def test_a_password_is_found_with_its_place(text: str, place: tuple[int, int]) -> None:
    (found,) = scan(text)
    assert (found.rule, found.line, found.column) == ("password", *place)


@pytest.mark.parametrize(
    "text",
    [
        "https://user:password@host/ https://user:PASSWORD@host https://u:${PASS}@host https://u:$PASS@host https://u:<pass>@h",
        "password = 'changeme' password = 'xxxxxxxxxxx' passwd = 'your-own-one'",
        "password = os.environ['DATABASE_PASS']",
        "password='aaaaaaaaaaaa' no_password='mW4x9Kp2vQ'".replace("no_", "nox"),
        "see https://host:8080/path@2 and git@github.com:acme/x.git",
        "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    ],
)
def test_what_only_looks_like_one_is_passed_over(text: str) -> None:
    assert scan(text) == []


def test_one_file_can_not_flood_the_report() -> None:
    assert len(scan("\n".join(f"password = 'mW4x9Kp2v{number}'" for number in range(100)))) == 20


def test_a_file_that_is_too_large_is_said_to_be_not_scanned() -> None:
    (found,) = scan("x" * (MAX_SCANNED_BYTES + 1))
    assert (found.rule, found.severity) == ("not-scanned", Severity.WARNING)


def test_the_sample_packs_are_clean() -> None:
    for folder in (REPOSITORY / "sample-packs").iterdir():
        if folder.is_dir() and folder.name != "bad":
            files = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
            assert list(plugin.scan(folder.name, MemorySource(files), ScanSettings())) == [], folder


def test_files_can_be_allowed_and_the_severity_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = MemorySource({"tests/x.sh": TOKEN.encode(), "run.sh": TOKEN.encode()})
    monkeypatch.setenv("MARKET_HOME", str(tmp_path))
    assert len(plugin.scan_pack(PACK, source)) == 2
    (tmp_path / "scan-secrets.toml").write_text('severity = "warning"\nallow = ["a-pack:tests/*"]\n')
    (found,) = plugin.scan_pack(PACK, source)
    assert (found.file, found.severity) == ("run.sh", Severity.WARNING)


@pytest.mark.parametrize(
    "text", ["severity = 1", 'severity = "fatal"', "allow = 'x'", "allow = [1]", "alow = []", "x", "\0"]
)
def test_settings_that_can_not_be_read_are_an_error(tmp_path: Path, text: str) -> None:
    (tmp_path / "mine.toml").write_text(text)
    with pytest.raises(InvalidInput, match=r"mine\.toml"):
        load_settings({"MARKET_SCAN_SECRETS": str(tmp_path / "mine.toml")})


def test_a_file_that_is_named_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(Exception, match="nowhere"):
        load_settings({"MARKET_SCAN_SECRETS": str(tmp_path / "nowhere.toml")})
