"""What type checkers must know about the library, and what they must refuse."""
