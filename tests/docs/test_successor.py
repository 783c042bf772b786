"""The comparison of two built sites, which `make properdocs` reports."""

from pathlib import Path

import pytest

from tests.support.successor import differences

PAGE = '<a href="guide.html">Guide</a><pre><code>x = 1</code></pre>'


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        (PAGE, []),
        (PAGE.replace("guide", "other"), ["gone: link 'guide.html'", "new: link 'other.html'"]),
        (PAGE.replace("x = 1", "x = 2"), ["gone: block 'x = 1'", "new: block 'x = 2'"]),
        (f"{PAGE}<pre>y</pre>", ["new: block 'y'"]),
        (None, ["gone: block 'x = 1'", "gone: link 'guide.html'", "gone: the page"]),
    ],
    ids=["the same", "a link", "a block", "one more block", "no page"],
)
def test_differences_are_told(tmp_path: Path, changed: str | None, told: list[str]) -> None:
    """A page, a block or a link that only one of the sites has is told, and nothing else."""
    for folder, text in (("before", PAGE), ("after", changed)):
        (tmp_path / folder).mkdir()
        if text is not None:
            (tmp_path / folder / "index.html").write_text(text, "utf-8")
    found = differences(tmp_path / "before", tmp_path / "after")
    assert sorted(found) == [f"index.html: {each}" for each in told]
