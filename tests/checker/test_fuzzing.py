"""A few hundred odd files; `make fuzz` takes a hundred thousand."""

from __future__ import annotations

import pytest

from plugin_utils.checker import Finding
from tests.checker import fuzzing
from tests.checker.fuzzing import make_file, run, survives


@pytest.mark.parametrize("start", range(0, 400, 100))
def test_no_odd_file_crashes_the_checker(start: int) -> None:
    """Broken syntax, odd bytes, deep nesting and long lines give findings or nothing."""
    failures: list[str] = []
    assert run(100, start, failures.append) == 0, failures


def test_a_crash_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the seed that makes the file again."""

    def crash(_data: bytes, _path: str) -> list[Finding]:
        raise RuntimeError

    monkeypatch.setattr(fuzzing, "check_bytes", crash)
    failures: list[str] = []
    assert run(2, 7, failures.append) == 2
    assert failures == ["seed 7: RuntimeError()", "seed 8: RuntimeError()"]


def test_a_file_is_made_again_by_its_seed() -> None:
    """Or a failure could not be looked into."""
    assert [make_file(seed) for seed in range(20)] == [make_file(seed) for seed in range(20)]


def test_a_racy_accessor_among_them_is_fixed_too() -> None:
    """The rewrites meet odd files as well."""
    racy = (
        b"_x = None\ndef f():\n    global _x\n    if _x is None:\n        _x = C()\n    return _x\n"
    )
    assert survives(racy)
