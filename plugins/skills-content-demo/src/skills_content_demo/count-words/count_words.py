#!/usr/bin/env python3
"""Count the words, lines and characters of the text on stdin."""

import json
import sys

text = json.load(sys.stdin)["text"]
json.dump({"words": len(text.split()), "lines": len(text.splitlines()), "characters": len(text)}, sys.stdout)
