"""What stands between Market and the code of its plugins: finding, checking, asking, telling; `loaded.py` is the face of it."""
