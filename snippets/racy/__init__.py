"""Accessors that go wrong every time they are run."""
