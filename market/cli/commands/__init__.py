"""One file per command, holding a command (or a function that makes it) of the file's name.

Rules are in the rooms below; what several commands share is beside this folder.
"""
