"""`scripts/bench NAME [--check]`: run one benchmark, print its tables, and with --check fail on a budget that isn't kept."""

from __future__ import annotations

import argparse
import importlib
import sys
from pathlib import Path


def main() -> int:
    """Run the named benchmark."""
    names = sorted(
        path.stem
        for path in Path(__file__).parent.glob("*.py")
        if path.stem not in ("__init__", "__main__", "measure", "peers", "servers", "wheels")
    )
    parser = argparse.ArgumentParser(prog="scripts/bench", description=__doc__)
    parser.add_argument("name", choices=names)
    parser.add_argument("--check", action="store_true", help="exit 1 when something is over its budget")
    arguments = parser.parse_args()
    missed: list[str] = []
    for table in importlib.import_module(f"benchmarks.{arguments.name}").tables():
        print(table, end="\n\n", flush=True)
        missed += table.missed
    print(f"over budget: {', '.join(missed)}" if missed else "every budget is kept", file=sys.stderr)
    return 1 if missed and arguments.check else 0


if __name__ == "__main__":
    raise SystemExit(main())
