"""What went wrong elsewhere, and the page that names the tests that show it right here."""
