"""The code that the pages show, one file a recipe."""
