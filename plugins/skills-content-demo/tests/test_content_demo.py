"""The wheel that hatchling builds of this folder is a good pack without any code."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from market.model import Kind
from market.trust.verify import verify_wheel

PROJECT = Path(__file__).parent.parent


def test_the_wheel_is_a_pack_of_a_guide_and_a_command(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)],
        cwd=PROJECT,
        check=True,
        capture_output=True,
    )
    (path,) = tmp_path.iterdir()
    with path.open("rb") as stream:
        verified = verify_wheel(stream, path.name)
    assert (verified.name, verified.pack.kind, verified.problems) == ("skills-content-demo", "wheel", ())
    assert {skill.name: skill.kind for skill in verified.pack.skills} == {
        "meeting-notes": Kind.GUIDE,
        "count_words": Kind.COMMAND,
    }
    assert verified.record.by_path["skills_content_demo/count-words/count_words.py"].executable
