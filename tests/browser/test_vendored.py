"""The vendored audit is the published one."""

import hashlib

from tests.browser.audits import AXE

PUBLISHED = (
    "29348999450cdf2849a8e70b7912fc2da85a849da39c0d0d5394f51d4a9ed95c"  # npm: axe-core 4.14.1
)


def test_axe_is_the_published_one() -> None:
    """The file is byte for byte the one of its package, and brings its licence."""
    assert hashlib.sha256(AXE.read_bytes()).hexdigest() == PUBLISHED
    licence = AXE.with_name("axe.LICENSE.txt").read_text("utf-8")
    assert licence.startswith("Mozilla Public License, version 2.0")
