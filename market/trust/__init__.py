"""May a pack be believed: verification of archives against what an index promised. Pure."""
