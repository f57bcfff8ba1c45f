"""News as log lines: one each, with what a log search asks for, and nothing that a call was given or gave."""

from __future__ import annotations

import logging
from datetime import UTC, datetime

import pytest

from market.model import Outcome, OutcomeKind
from market.news_log import own_news
from market.plugins.loaded import Plugins, load_plugins
from tests.plugged import ADA, a_call, a_pack, a_target

NOW = datetime(2026, 1, 3, 3, 4, 5, tzinfo=UTC)


@pytest.fixture
def plugins(caplog: pytest.LogCaptureFixture) -> Plugins:
    caplog.set_level(logging.INFO, "market.news")
    return load_plugins(own_news(), entry_points=[])


def line(caplog: pytest.LogCaptureFixture) -> tuple[str, dict[str, object]]:
    (record,) = caplog.records
    return record.getMessage(), vars(record)


def test_a_call_is_logged_without_its_arguments(plugins: Plugins, caplog: pytest.LogCaptureFixture) -> None:
    plugins.skill_ran(a_target(), a_call(), '{"password": "hunter2"}', Outcome(OutcomeKind.OK, "s3cret", duration_ms=12.5), NOW)
    text, fields = line(caplog)
    assert text == f"{a_call().key} ok"
    assert (fields["caller"], fields["pack"], fields["outcome"], fields["duration_ms"]) == (a_call().caller.name, a_target().pack, "ok", 12.5)
    assert "hunter2" not in str(fields) and "s3cret" not in str(fields)


def test_a_call_of_an_unknown_skill_is_logged(plugins: Plugins, caplog: pytest.LogCaptureFixture) -> None:
    plugins.skill_ran(None, a_call(), "{}", Outcome(OutcomeKind.UNKNOWN, error="none"), NOW)
    assert line(caplog)[0] == f"{a_call().key} unknown"


def test_an_install_and_a_removal_are_logged(plugins: Plugins, caplog: pytest.LogCaptureFixture) -> None:
    plugins.pack_installed(a_pack("acme-tool"), "acme", "http://index", "/srv", "upgraded", "0.9", ADA, NOW)
    text, fields = line(caplog)
    assert text.startswith("upgraded acme-tool ")
    assert (fields["publisher"], fields["origin"], fields["root"], fields["old_version"], fields["caller"]) == ("acme", "http://index", "/srv", "0.9", ADA.name)
    caplog.clear()
    plugins.pack_removed("acme-tool", "1.0", "/srv", ADA, NOW)
    assert line(caplog)[0] == "removed acme-tool 1.0"


def test_a_release_and_its_yank_are_logged(plugins: Plugins, caplog: pytest.LogCaptureFixture) -> None:
    plugins.release_published(a_pack("acme-tool"), "acme", "acme-tool.zip", "sha256:1", NOW)
    text, fields = line(caplog)
    assert text.startswith("published acme-tool ")
    assert (fields["file"], fields["tree_digest"]) == ("acme-tool.zip", "sha256:1")
    for undone, word in ((False, "yanked"), (True, "unyanked")):
        caplog.clear()
        plugins.release_yanked("acme-tool", "1.0", "acme", "leaks", undone=undone, at=NOW)
        assert line(caplog)[0] == f"{word} acme-tool 1.0"
