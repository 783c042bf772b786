"""Judged sites in published packages, and how well the checker tells them apart.

`make labels` brings the packages and prints the figures. The ordinary tests need no package: they
test the arithmetic only.
"""
