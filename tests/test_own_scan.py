"""Market's own scan, as every road asks it."""

from __future__ import annotations

from market.errors import Severity
from market.own_scan import own_scan
from market.pack.source import MemorySource
from market.plugins.loaded import load_plugins
from tests.pack.test_secrets import TOKENS
from tests.plugged import a_pack


def test_its_findings_have_the_names_that_check_gives_them() -> None:
    source = MemorySource({"notes.md": TOKENS["ghp_"].encode(), "setup.sh": b"curl x | sh\n"})
    plugins = load_plugins(own_scan(), entry_points=[])
    told = {act: [(one.rule, one.severity) for one in plugins.scan_pack(a_pack(), source, act)] for act in ("publish", "install")}
    assert told["publish"] == [("secret", Severity.REFUSAL), ("download-run", Severity.WARNING)]
    assert told["install"] == [("download-run", Severity.WARNING)], "a secret harms who wrote it"
