"""A folder that uv filled, made the same for every machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from market.errors import Untrusted
from market.installer.composition import DEPENDENCIES_NAME, Dependency
from market.installer.site_folder import settle_site
from tests.installer.builders import read_tree

if TYPE_CHECKING:
    from pathlib import Path

PINS = (Dependency("tool", "1.0", ("sha256:" + "a" * 64,)),)
RECORD = (
    "tool.py,sha256=y,1\n../../bin/tool,sha256=x,298\nbin/tool,sha256=x,298\n"
    '"a,b.py",,\ntool-1.0.dist-info/RECORD,,\ntool-1.0.dist-info/INSTALLER,sha256=z,2\ntool-1.0.dist-info/direct_url.json,,\n'
)


def fill(site: Path) -> None:
    for path, text in (
        ("tool.py", "x"), ("a,b.py", ""), ("bin/tool", "#!/home/me/venv/bin/python\n"), (".lock", ""),
        ("tool-1.0.dist-info/RECORD", RECORD), ("tool-1.0.dist-info/METADATA", "m"), ("tool-1.0.dist-info/INSTALLER", "uv"),
        ("tool-1.0.dist-info/REQUESTED", ""), ("tool-1.0.dist-info/direct_url.json", "{}"), ("tool-1.0.dist-info/uv_cache.json", "{}"),
    ):  # fmt: skip
        (site / path).parent.mkdir(parents=True, exist_ok=True)
        (site / path).write_text(text)


def test_what_differs_from_machine_to_machine_goes_and_record_is_true_again(tmp_path: Path) -> None:
    fill(tmp_path)
    settle_site(tmp_path, PINS)
    assert read_tree(tmp_path) == {
        "tool.py": b"x",
        "a,b.py": b"",
        "tool-1.0.dist-info/METADATA": b"m",
        "tool-1.0.dist-info/RECORD": b'"a,b.py",,\ntool-1.0.dist-info/RECORD,,\ntool.py,sha256=y,1\n',
        DEPENDENCIES_NAME: b"tool==1.0 --hash=sha256:" + b"a" * 64 + b"\n",
    }


def test_a_dependency_can_t_write_the_pins_itself(tmp_path: Path) -> None:
    (tmp_path / DEPENDENCIES_NAME).write_text("")
    with pytest.raises(Untrusted, match="which is Market's own"):
        settle_site(tmp_path, PINS)
