"""Reading files as Python does, and the comments that silence a finding."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from plugin_utils.checker import check_source
from plugin_utils.checker.run import check_file
from plugin_utils.checker.source import lines_of, read

RACY = "_x = {}\ndef f(k):\n    if k not in _x:\n        _x[k] = Client(k)%s\n    return _x[k]\n"


@pytest.mark.learned("one-thread-only")
@pytest.mark.parametrize(
    "comment",
    [
        "  # noqa: LS003",
        "  # noqa: E501, LS003",
        "  # NOQA:ls003 one thread only",
        "  # noqa",
        "  # type: ignore  # noqa: LS003",
        "  # plugin-utils: ignore[LS003] runs in one thread",
        "  # plugin-utils: ignore[LS001, LS003]: runs in one thread",
        "  # plugin-utils: ignore[LS] runs in one thread",
        "  # plugin-utils: ignore[LS01, ls00] runs in one thread",
        "  # noqa: E501, LS0",
    ],
)
def test_a_comment_silences_the_finding_on_its_line(comment: str) -> None:
    """In the forms of flake8 and ruff, or in the tool's own with a reason, by code or beginning."""
    assert check_source(RACY % comment) == []


@pytest.mark.parametrize(
    "comment",
    [
        "  # noqa: LS001",
        "  # noqa: E501",
        "  # plugin-utils: ignore[LS001] runs in one thread",
        "  # plugin-utils: ignore[LS01] runs in one thread",
        "  # plugin-utils: ignore[LS-003] runs in one thread",
        "  # plugin-utils: ignore[] runs in one thread",
        "  # plugin-utils: ignore runs in one thread",
        "; y = '# noqa: LS003'",
    ],
)
def test_a_comment_about_something_else_silences_nothing(comment: str) -> None:
    """Nor does a string that looks like one."""
    (finding,) = check_source(RACY % comment)
    assert "comment" not in finding.message


@pytest.mark.learned("one-thread-only")
def test_a_comment_without_a_reason_silences_nothing_and_is_told_so() -> None:
    """The next reader needs the reason more than the author."""
    (finding,) = check_source(RACY % "  # plugin-utils: ignore[LS003] ...")
    assert finding.message.endswith(
        "; the comment that ignores it gives no reason, so it does not count"
    )


def test_a_comment_counts_on_any_line_of_the_statement() -> None:
    """A formatter may put it at the end of a store that spans lines."""
    spread = (RACY % "").replace("(k)\n    return", "(\n            k\n        )%s\n    return")
    assert len(check_source(spread % "")) == 1
    assert check_source(spread % "  # noqa: LS003") == []


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"x = 1\r\n", "x = 1\r\n"),
        (b"\xef\xbb\xbfx = 1\n", "x = 1\n"),
        (b"# -*- coding: latin-1 -*-\nx = '\xe9'\n", "# -*- coding: latin-1 -*-\nx = '\xe9'\n"),
        (b"", ""),
    ],
)
def test_a_file_is_decoded_as_python_decodes_it(tmp_path: Path, data: bytes, text: str) -> None:
    """By byte order mark or coding line; line ends are kept."""
    path = tmp_path / "x.py"
    path.write_bytes(data)
    source = read(str(path))
    assert source.text == text
    assert source.text.encode(source.encoding) == data


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (b"x = '\xff'\n", 1),
        (b"# coding: no-such\n", 1),
        (b"# coding: undefined\nx = 1\n", 1),
        (b"x = 1\n\x00\n", 1),
        (b"x = 1\nif:\n", 2),
    ],
    ids=["bytes", "coding", "undefined", "null", "syntax"],
)
def test_what_python_cannot_read_is_a_finding(tmp_path: Path, data: bytes, line: int) -> None:
    """Never a traceback: LS000 at the line that Python names, or the first."""
    path = tmp_path / "x.py"
    path.write_bytes(data)
    found = check_file(str(path))
    assert not isinstance(found, OSError)
    (finding,) = found
    assert (finding.code, finding.function) == ("LS000", "")
    assert finding.message.startswith("cannot be parsed: ")
    assert finding.line == line


@pytest.mark.parametrize(
    "text",
    [
        "x = " + "(" * 300 + ")" * 300,
        "x = " + "-" * 50_000 + "1",
        "x = " + "a." * 50_000 + "a",
        "x = " + "1 + " * 50_000 + "1",
        "\n".join(" " * depth + "if x:" for depth in range(200)),
    ],
    ids=["parentheses", "signs", "dots", "sum", "indent"],
)
def test_code_that_is_nested_too_deeply_is_at_most_a_finding(text: str) -> None:
    """How deep the parser goes differs between versions of Python; none of them may crash."""
    assert {finding.code for finding in check_source(text)} <= {"LS000"}


def test_what_python_says_of_a_quoted_annotation_concerns_its_author_only() -> None:
    """The annotation is read; an escape in it that Python does not know is not said here."""
    text = (RACY % "").replace("def f(k):", r"""def f(k) -> "Literal['\\d']":""")
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        assert [finding.code for finding in check_source(text)] == ["LS003"]
    assert heard == []


def test_lines_end_where_python_ends_them() -> None:
    """A form feed is white space to Python, not the end of a line."""
    assert lines_of("a\fb\nc\r\nd\re\u2028f") == ["a\fb\n", "c\r\n", "d\r", "e\u2028f"]


def test_columns_count_characters_not_bytes() -> None:
    """An accent before the store does not move it."""
    text = (RACY % "").replace("_x[k] = ", "'é'; _x[k] = ")
    (finding,) = check_source(text)
    assert finding.column == 14


def test_a_long_chain_of_elif_is_read() -> None:
    """Generated code has hundreds; each is nested in the one before it."""
    chain = "".join(f"    elif a == {n}:\n        pass\n" for n in range(900))
    assert check_source(f"def f(a):\n    if a:\n        pass\n{chain}") == []
