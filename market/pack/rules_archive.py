"""Rules about paths and about the structure of archives: rows of (id, severity, sentence, fix) for `market.pack.rules`."""

from __future__ import annotations

# fmt: off

Row = tuple[str, str, str, str]

_RENAME = "rename the file"
_REPACK = "unpack it and run `market archive FOLDER -o FILE`"
_NO_FIX = "nothing needs doing"

PATH_RULES: tuple[Row, ...] = (
    ("path-parts", "error", "an empty part, '.' or '..' can leave the folder that the pack is unpacked into", _RENAME),
    ("path-absolute", "error", "an absolute path leaves the folder that the pack is unpacked into", _RENAME),
    ("path-backslash", "error", "Windows reads a backslash as a separator, other systems as a letter", "use '/' between folders"),
    ("path-colon", "error", "Windows reads a colon as a drive or as a hidden stream", _RENAME),
    ("path-control", "error", "control characters hide what a name is", _RENAME),
    ("path-invisible", "error", "invisible and direction-changing characters make one name look like another", _RENAME),
    ("path-encoding", "error", "names are UTF-8, otherwise each system reads another name", "rename the file in UTF-8"),
    ("path-normal-form", "error",
     "systems store other Unicode forms; only NFC names are one file everywhere", "rename it in Unicode form NFC"),
    ("path-long", "error", "longer names can't be stored on common file systems", "shorten the path"),
    ("path-deep", "error", "deeper trees can't be walked safely", "flatten the folders"),
    ("path-ending", "error", "Windows drops dots and spaces at the end of a name", _RENAME),
    ("path-reserved", "error", "Windows opens a device under this name", _RENAME),
    ("path-leading", "error", "programs read a leading '-' as an option and a leading '~' as a home folder", _RENAME),
    ("path-forbidden", "error", "this folder belongs to a tool that acts on what lies in it", "leave it out of the pack"),
    ("path-duplicate", "error", "two files under one path: each reader would take another one", "keep one of them"),
    ("path-collision", "error", "both names are one file on a case-insensitive disk", "rename one of them"),
    ("path-file-and-folder", "error", "one path can't be a file and a folder", "rename one of them"),
)

ARCHIVE_RULES: tuple[Row, ...] = (
    ("archive-not-zip", "error", "an archive is a zip file that ends with an end record", _REPACK),
    ("archive-truncated", "error", "bytes are missing: the download or copy was cut short", "download or copy it again"),
    ("archive-too-large", "error", "larger archives are refused before anything is read", "make the pack smaller"),
    ("archive-too-many", "error", "more files than that are refused", "make the pack smaller"),
    ("archive-empty", "error", "an archive without files is no pack", "put a SKILL.md or skill.json into the folder"),
    ("archive-comment", "error", "a comment is room for bytes that no reader shows", _REPACK),
    ("archive-trailing", "error", "bytes after the end record are seen by some readers and not by others", _REPACK),
    ("archive-prefix", "error", "bytes before the first entry make it a different file for other programs", _REPACK),
    ("archive-gap", "error", "bytes that belong to no entry can hide a second archive", _REPACK),
    ("archive-overlap", "error", "entries that share bytes are how zip bombs are built", _REPACK),
    ("archive-end-records", "error", "with two end records each reader sees another archive", _REPACK),
    ("archive-zip64", "error", "no pack is large enough for zip64, and readers disagree about its fields", _REPACK),
    ("archive-multi-disk", "error", "an archive is one file", _REPACK),
    ("archive-directory", "error", "the central directory can't be read", _REPACK),
    ("archive-mismatch", "error", "the entry's own header and the central directory disagree: readers would see two packs", _REPACK),
    ("archive-encrypted", "error", "what is encrypted can't be reviewed", _REPACK),
    ("archive-descriptor", "error", "a size that comes after the bytes can't be checked before them", _REPACK),
    ("archive-compressed", "error", "packs are stored, not compressed: one tree is one archive everywhere, and no bomb", _REPACK),
    ("archive-size", "error", "the declared size isn't the real one", _REPACK),
    ("archive-file-too-large", "error", "larger files are refused", "make the file smaller"),
    ("archive-extra", "error", "extra fields can carry a second name or size", _REPACK),
    ("archive-link", "error", "a link can point out of the folder", "replace the link by the file"),
    ("archive-special", "error", "a device, pipe or socket is no content", "leave it out"),
    ("archive-folder", "error", "folders exist through their files only", _REPACK),
    ("archive-mode", "error", "modes are 0644 and 0755 only: no set-user-id, nothing writable by others", _REPACK),
    ("archive-header", "error", "this field differs from the canonical form", _REPACK),
    ("archive-order", "error", "entries stand in the order of their UTF-8 paths", _REPACK),
    ("archive-crc", "error", "the bytes aren't the ones that were written", "download or copy it again"),
    # What only a foreign archive can do; its structure is never repaired.
    ("archive-hard-link", "error", "a hard link can name a file outside the folder", "replace the link by the file"),
    ("archive-method", "error", "only plain and deflated files are read", _REPACK),
    ("archive-bomb", "error", "a few bytes that become a great many are how a machine is filled up", _REPACK),
    ("gzip-broken", "error", "the compressed bytes can't be read", "download or copy it again"),
    ("gzip-trailing", "error", "bytes after the compressed stream are seen by some readers and not by others", _REPACK),
    ("gzip-members", "error", "of two compressed streams some readers see the first one only", _REPACK),
    ("tar-header", "error", "this header is not one that all readers read the same way", _REPACK),
    ("tar-checksum", "error", "the header isn't the one that was written", "download or copy it again"),
    ("tar-size", "error", "the size isn't a plain octal number, or is given twice and differs", _REPACK),
    ("tar-type", "error", "contiguous files, volumes and unknown types aren't read", _REPACK),
    ("tar-sparse", "error", "readers disagree about sparse files", _REPACK),
    ("tar-attributes", "error", "an extended header that repeats itself, is malformed or changes how names are read", _REPACK),
    ("tar-global", "error", "a global header changes every entry after it; only a comment is taken", _REPACK),
    ("tar-name", "error", "the two names of an entry disagree: readers would see two packs", _REPACK),
    ("tar-chain", "error", "of several extended headers before one entry each reader takes another one", _REPACK),
    ("tar-folder-mode", "error", "a folder that nobody may enter", _REPACK),
    ("tar-padding", "error", "bytes that belong to no entry can hide a second archive", _REPACK),
    ("tar-end", "error", "the two empty blocks at the end are missing, or only one is there", "download or copy it again"),
    ("tar-trailing", "error", "bytes after the end are seen by some readers and not by others", _REPACK),
    # What the importer changed. Each is said, none is done silently.
    ("import-form", "warning", "packs are stored zips: compression, times, owners, comments and extra fields are dropped", _NO_FIX),
    ("import-wrapper", "warning", "the manifest belongs at the top of a pack", _NO_FIX),
    ("import-junk", "warning", "written by systems and tools, not by the author", _NO_FIX),
    ("import-dot", "warning", "a leading './' says nothing", _NO_FIX),
    ("import-backslash", "warning", "programs on Windows write backslashes between folders", _NO_FIX),
    ("import-unmarked", "warning", "the name is UTF-8, but isn't marked so; other readers show other letters",
     "check the name; make the archive with a program that marks UTF-8 names"),
    ("import-code-page", "warning", "the name was written in the code page of an old system",
     "check the name; make the archive with a program that writes UTF-8 names"),
    ("import-normal-form", "warning", "systems store other Unicode forms; only NFC names are one file everywhere", _NO_FIX),
    ("import-mode", "warning", "set-user-id, set-group-id, sticky and world-writable files aren't taken over", _NO_FIX),
    ("import-executable", "warning", "a skill's entry must be executable; the archive had lost the bit", _NO_FIX),
    ("import-plain", "warning", "only entries and '#!' files are executable in a pack",
     "make it the entry, or call it through its interpreter"),
)
