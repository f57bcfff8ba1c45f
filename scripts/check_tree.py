"""Fail when a tracked file breaks a house rule that no linter knows: size, names, addresses, unfinished marks."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 50
FORBIDDEN_NAME = re.compile(r"(Manager|Helper|Util|Utils|Service|Processor)$")
UNFINISHED = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|XX" + r"X)\b|NotImplemented" + r"Error")
REGISTRY_ADDRESS = re.compile(
    r"https?://(?!127\.|localhost|\[)[^\s\"'<>)]*(?:/simple/?(?=[\s\"']|$)|/packages/[0-9a-f]{2}/|/-/[\w.-]+\.tgz)"
)


def tracked() -> list[Path]:
    """Return the files that git tracks or would track."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    return [path for path in map(Path, sorted(set(listed.split("\0")) - {""})) if path.is_file()]


def faults(path: Path) -> list[str]:
    """Return what is wrong with one file."""
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return []
    sentences = [f"{path}: names a registry's address: {match[0]}" for match in REGISTRY_ADDRESS.finditer(text)]
    if path.suffix == ".py" and path.parts[0] in ("market", "index", "plugins"):
        sentences += code_faults(path, text)
    return sentences


def code_faults(path: Path, text: str) -> list[str]:
    """Return what is wrong with a Python file of the product."""
    lines = text.splitlines()
    sentences = [f"{path}:{number}: unfinished mark" for number, line in enumerate(lines, 1) if UNFINISHED.search(line)]
    if len(lines) > MAX_FILE_LINES:
        sentences.append(f"{path}: {len(lines)} lines, more than {MAX_FILE_LINES}")
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ClassDef) and FORBIDDEN_NAME.search(node.name):
            sentences.append(f"{path}:{node.lineno}: the name {node.name} says nothing")
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > MAX_FUNCTION_LINES:
                sentences.append(
                    f"{path}:{node.lineno}: {node.name} has {length} lines, more than {MAX_FUNCTION_LINES}"
                )
    return sentences


def main() -> int:
    """Print the faults of every file and return the exit code."""
    sentences = [sentence for path in tracked() for sentence in faults(path)]
    for sentence in sentences:
        print(sentence, file=sys.stderr)
    return 1 if sentences else 0


if __name__ == "__main__":
    raise SystemExit(main())
