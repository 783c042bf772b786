"""Tests of the code that the pages show."""
