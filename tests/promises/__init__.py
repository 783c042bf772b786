"""What the library promises, and the page that names the tests of each promise."""
