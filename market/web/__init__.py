"""What both servers need at the HTTP edge. No rule of the index or the host is here."""
