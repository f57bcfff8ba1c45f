"""Rules about manifests and their text: rows of (id, severity, sentence, fix) for `market.pack.rules`."""

from __future__ import annotations

# fmt: off

Row = tuple[str, str, str, str]

TEXT_RULES: tuple[Row, ...] = (
    ("text-encoding", "error", "manifests are UTF-8", "save the file as UTF-8"),
    ("file-too-large", "error", "larger manifests are refused before they are parsed", "move text into other files of the pack"),
    ("file-large", "warning", "OpenClaw skips a SKILL.md of more than 256,000 bytes", "move text into other files of the pack"),
    ("json-syntax", "error", "it is not JSON", "correct the line"),
    ("json-duplicate-key", "error", "of two values under one key each reader takes another one", "keep one of them"),
    ("json-constant", "error", "JSON has no NaN and no Infinity", "use a number or null"),
    ("json-deep", "error", "deeper nesting is refused", "flatten it"),
    ("json-surrogate", "error", "half a surrogate pair is no character and can't be written as UTF-8", "write the whole character"),
    ("json-not-object", "error", "the file holds one object", "put the fields between { and }"),
    ("yaml-syntax", "error", "it is not YAML", "correct the line"),
    ("yaml-repaired", "warning", "strict YAML readers drop this file; here the full text was kept", "put the value in quotes"),
    ("yaml-cut", "warning", "YAML reads ' #' as the start of a comment, so the rest of the line is lost", "put the value in quotes"),
    ("yaml-tag", "error", "tags can make a reader build objects; only plain text, lists and mappings are read", "remove the tag"),
    ("yaml-duplicate-key", "error", "of two values under one key each reader takes another one", "keep one of them"),
    ("yaml-size", "error", "YAML that grows this far is refused", "write fewer values, and text into the body"),
    ("yaml-key", "error", "a key is a text", "write a plain word before the colon"),
    ("yaml-not-mapping", "error", "it is a list of 'key: value' lines", "write 'key: value' lines"),
)

PACK_RULES: tuple[Row, ...] = (
    ("pack-empty", "error", "a pack holds at least one file named exactly SKILL.md or skill.json", "add one"),
    ("pack-name", "error", "a pack needs a name of letters a-z, digits and hyphens", "give one with --name, or write it into pack.yaml"),
    ("pack-manifest", "error", "the pack's own manifest can't be used", "correct the field"),
    ("pack-field-unknown", "warning", "the field is not part of the format and has no effect", "remove it"),
    ("name-overridden", "warning", "the name that was given wins over the manifest's", "make them the same"),
    ("version-overridden", "warning", "the version that was given wins over the manifest's", "make them the same"),
    ("version-missing", "refusal", "a release needs a version", "write it into the manifest, or give --version"),
    ("version-invalid", "refusal", "versions follow PEP 440, for example 1.2.0 or 1.2.0-rc.1", "correct the version"),
    ("skill-duplicate", "refusal", "only the first skill of a name is loaded", "rename one of them"),
    ("skill-nested", "warning",
     "below a folder with a SKILL.md, another SKILL.md is that skill's content, not a skill", "move it beside the other"),
    ("manifest-case", "error", "the name is exactly SKILL.md or skill.json; clients miss other spellings", "rename the file"),
    ("manifest-near", "warning",
     "the name is close to a manifest's, but no client reads it", "rename the file if it is meant as a skill"),
    ("manifest-folder", "error", "a folder has the name of a manifest", "rename the folder"),
    ("skills-path", "error", "each of `skills` is a folder in the pack that holds a skill", "correct the path"),
)

GUIDE_RULES: tuple[Row, ...] = (
    ("front-matter-missing", "error",
     "a SKILL.md starts with front matter between two lines of ---", "start the file with ---, name, description, ---"),
    ("front-matter-unclosed", "warning",
     "most clients drop a file whose front matter has no closing ---", "add a line of --- after the last field"),
    ("front-matter-late", "warning", "most clients want --- as the very first line", "remove the lines before ---"),
    ("guide-name-missing", "warning", "without a name the folder's name is taken; other clients drop the skill", "add a name"),
    ("guide-name-invalid", "refusal", "a skill's name has 1 to 64 lower-case letters, digits and single hyphens", "correct the name"),
    ("guide-name-style", "warning", "the Agent Skills rule allows lower-case letters, digits and single hyphens", "correct the name"),
    ("guide-name-folder", "warning",
     "the Agent Skills rule wants the folder named as the skill; the name in the file is the identity", "rename one of them"),
    ("guide-description-missing", "error",
     "without a description the model can't know when to use the skill", "add a description that says what it does and when"),
    ("guide-description-borrowed", "warning",
     "there is no description, so the first paragraph was taken; other clients drop the skill", "add a description"),
    ("guide-description-long", "warning", "several clients drop a description of more than 1,024 characters", "shorten it"),
    ("field-shape", "warning", "the field has another shape than clients expect", "correct the field"),
    ("guide-tool-class", "warning", "a tool's class is read, write or destructive; the strictest was taken", "correct the class"),
)

SKILL_JSON_RULES: tuple[Row, ...] = (
    ("field-missing", "error", "the field is required", "add it"),
    ("field-type", "error", "the field has the wrong type", "correct the value"),
    ("field-near", "warning", "the field is not part of the format and has no effect", "rename or remove it"),
    ("skill-name", "error",
     "a command's name has letters a-z, digits and underscores: it is the function name that the model sees", "correct the name"),
    ("class-missing", "refusal",
     "without a class the skill is loaded as safe, which a reader of the manifest can't see",
     'add "class": "safe", "mutating" or "dangerous"'),
    ("class-invalid", "error", "a class is safe, mutating or dangerous", "correct the class"),
    ("class-alias", "warning", "read, write and destructive mean safe, mutating and dangerous", "use the name of the class"),
    ("schema-type", "error", "a schema is a JSON object", "write a JSON Schema of type object"),
    ("schema-invalid", "error", "it is not a JSON Schema", "correct the schema"),
    ("schema-not-arguments", "refusal", "the arguments are an object, so this schema accepts no call", 'use "type": "object"'),
    ("timeout-invalid", "error", "a time limit is a whole number of seconds; 0 means 30", "correct the number"),
    ("environment-name", "error", "a variable's name has letters, digits and underscores", "correct the name"),
    ("environment-loader", "warning", "variables that change how programs are loaded are never forwarded", "remove it"),
    ("command-foreign", "warning", "a command's skill.json names its entry", 'add "entry" if the skill is to be run'),
    ("entry-absolute", "refusal",
     "an absolute entry works on one machine only", "put the program into the pack and give its path from skill.json"),
    ("entry-escapes", "error", "an entry stays inside its pack", "put the program into the pack"),
    ("entry-missing", "error", "the file is not in the pack", "correct the path, from the folder of skill.json"),
    ("entry-folder", "error", "an entry is a file", "name the program inside the folder"),
    ("entry-arguments", "error", "an entry is a path, not a command line; arguments come as JSON on stdin", "give the path alone"),
    ("entry-python", "error", "a python entry works in a wheel only", "use the path of an executable"),
    ("entry-not-executable", "warning", "the file lacks the executable bit; archives set it for entries", "chmod +x it"),
    ("entry-line-ends", "refusal",
     "the first line ends in CRLF, so the system looks for an interpreter whose name ends in a carriage return",
     "save the file with LF line ends"),
    ("entry-no-interpreter", "warning",
     "a text file without a #! line can't be started by the system", "start it with a line such as #!/bin/sh"),
)
