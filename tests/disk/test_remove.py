from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from market.disk.remove import remove_tree

if TYPE_CHECKING:
    from pathlib import Path


def test_a_tree_goes_and_what_its_links_point_to_stays(tmp_path: Path) -> None:
    keep = tmp_path / "keep"
    keep.mkdir()
    (keep / "file").write_text("x")
    tree = tmp_path / "tree"
    (tree / "a/b/c").mkdir(parents=True)
    (tree / "a/b/file").write_text("x")
    (tree / "a/link").symlink_to(keep)
    (tree / "link").symlink_to(keep / "file")
    os.mkfifo(tree / "pipe")
    (tree / "a/b").chmod(0o000)
    remove_tree(tree)
    assert os.listdir(tmp_path) == ["keep"]
    assert (keep / "file").read_text() == "x"


def test_a_file_and_a_link_go_alone(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("folder")
    (tmp_path / "file").touch()
    remove_tree(tmp_path / "link")
    remove_tree(tmp_path / "file")
    assert os.listdir(tmp_path) == ["folder"]
    with pytest.raises(FileNotFoundError):
        remove_tree(tmp_path / "file")


@pytest.mark.flow
def test_nesting_costs_neither_stack_nor_descriptors(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    descriptor = os.open(tree, os.O_RDONLY)
    for _ in range(3000):
        os.mkdir("d", dir_fd=descriptor)
        os.mkdir("e", dir_fd=descriptor)
        inner = os.open("d", os.O_RDONLY, dir_fd=descriptor)
        os.close(descriptor)
        descriptor = inner
    os.close(descriptor)
    remove_tree(tree)
    assert os.listdir(tmp_path) == []
