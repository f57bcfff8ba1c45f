"""The first files of a new pack, for `market new`. A function of kind and name; writing them is the caller's."""

from __future__ import annotations

from typing import Literal

from market.names import parse_pack_name
from market.pack.templates_plugin import new_plugin

TemplateKind = Literal["guide", "command", "plugin"]
KINDS: tuple[TemplateKind, ...] = ("guide", "command", "plugin")

_GUIDE = """---
name: {name}
description: Says in one or two sentences what this skill does. Use when (say when the model should read it).
metadata:
  version: "0.1.0"
---

# {title}

Write here what the model should do, step by step. Files beside this one can be named by their relative path.
"""

_COMMAND = """{{
  "name": "{key}",
  "version": "0.1.0",
  "description": "Greets somebody. Use when a greeting is asked for.",
  "class": "safe",
  "category": "external",
  "entry": "run.py",
  "env_allow": ["PATH"],
  "timeout_seconds": 30,
  "schema": {{
    "type": "object",
    "properties": {{
      "name": {{"type": "string", "description": "Whom to greet.", "default": "world"}}
    }}
  }}
}}
"""

_SCRIPT = '''#!/usr/bin/env python3
"""Read the arguments as JSON from stdin, print the result as JSON to stdout. Log lines go to stderr."""

import json
import sys

arguments = json.load(sys.stdin)
print("greeting", file=sys.stderr)
json.dump({"greeting": f"Hello, {arguments.get('name', 'world')}!"}, sys.stdout)
'''


def new_pack(kind: TemplateKind, name: str) -> dict[str, tuple[bytes, bool]]:
    """Return the files of a new pack as path -> (bytes, executable); raises `InvalidInput` for a bad name."""
    if kind == "plugin":
        return new_plugin(name)
    pack_name = parse_pack_name(name)
    if kind == "guide":
        title = pack_name.replace("-", " ").capitalize()
        return {"SKILL.md": (_GUIDE.format(name=pack_name, title=title).encode(), False)}
    manifest = _COMMAND.format(key=pack_name.replace("-", "_"))
    return {"skill.json": (manifest.encode(), False), "run.py": (_SCRIPT.encode(), True)}
