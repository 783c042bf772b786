"""Longer runs, for the figures that the guide quotes."""
