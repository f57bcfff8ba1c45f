"""What stands between Market and the code of its plugins: finding, checking, asking, telling; `market.plugins` is the face of it."""
