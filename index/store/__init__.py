"""The domain on SQL and blobs."""
