"""Every fixture says on the line what is found there; nothing else may be."""

from __future__ import annotations

import io
import re
import tokenize
from collections import Counter
from pathlib import Path

import pytest

from plugin_utils.checker import RULES, check_source

FIXTURES = Path(__file__).parent / "fixtures"
_EXPECT = re.compile(r"# expect: (LS\d{3}) (high|medium|info)$")


def expected_in(text: str) -> Counter[tuple[int, str, str]]:
    """Return what the comments of a fixture announce: line, code and level."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    matches = ((token.start[0], _EXPECT.search(token.string)) for token in tokens)
    return Counter((line, match[1], match[2]) for line, match in matches if match)


@pytest.mark.parametrize("path", sorted(FIXTURES.rglob("*.py")), ids=lambda path: path.stem)
def test_a_fixture_gives_exactly_what_it_announces(path: Path) -> None:
    """Each finding has its comment, each comment its finding, at every level."""
    text = path.read_text(encoding="utf-8")
    found = Counter((f.line, f.code, f.level.label) for f in check_source(text, str(path)))
    assert found == expected_in(text)


def test_every_rule_has_a_fixture_in_which_it_finds_something() -> None:
    """A rule without a fixture of its own is not a rule yet."""
    for code in RULES:
        text = (FIXTURES / f"{code.lower()}.py").read_text(encoding="utf-8")
        assert code in {found for _, found, _ in expected_in(text)}


def test_a_flag_is_not_said_to_be_built() -> None:
    """It says that something was done, and that is what happens twice."""
    path = FIXTURES / "ls011.py"
    found = check_source(path.read_text(encoding="utf-8"), str(path))
    messages = [finding.message for finding in found if finding.code == "LS011"]
    assert all("two threads can do it twice" in message for message in messages)
    assert sum("not tested again under the lock" in message for message in messages) == 2
