"""What both servers need at the HTTP edge."""
