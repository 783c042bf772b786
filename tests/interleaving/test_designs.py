"""The explorer tells wrong designs from right ones."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from plugin_utils.testing.interleaving import Model, explore
from plugin_utils.testing.interleaving._search import Search
from tests.interleaving import designs
from tests.interleaving.designs import RIGHT, WRONG, Design, Value
from tests.interleaving.watching import nobody


def model_of(design: type[Design], ops: str, *, built: bool, seen: set[str] | None = None) -> Model:
    """Return the model of a design's use, or one that only collects in `seen` how it ends."""
    words = ops.split()

    def model() -> tuple[list[Callable[[], object]], Callable[[list[object]], None]]:
        builds: list[Value] = []

        def factory() -> Value:
            value = Value()
            builds.append(value)
            return value

        singleton = design()
        if built:
            singleton.get(factory)
        doing: dict[str, Callable[[], object]] = {
            "get": lambda: singleton.get(factory),
            "peek": singleton.peek,
            "reset": singleton.reset,
        }

        def check(results: list[object]) -> None:
            if seen is not None:
                known = [next((n for n, v in enumerate(builds) if v is r), r) for r in results]
                seen.add(f"{len(builds)} built: {known}")
                return
            got = [r for word, r in zip(words, results, strict=True) if word == "get"]
            assert all(isinstance(r, Value) for r in got), "get did not return an instance"
            peeked = [r for word, r in zip(words, results, strict=True) if word == "peek"]
            assert all(r is None or isinstance(r, Value) for r in peeked), "peek returned half"
            assert len(builds) <= 1 + words.count("reset"), f"built {len(builds)}"
            assert "reset" in words or len(set(got)) == 1, "the threads have different instances"

        return [doing[word] for word in words], check

    return model


@pytest.mark.parametrize(("design", "ops", "built", "switches"), WRONG)
def test_a_wrong_design_fails(design: type[Design], ops: str, built: bool, switches: int) -> None:
    """A wrong design is found, with the fewest switches that it takes."""
    result = explore(model_of(design, ops, built=built), watch=[designs])
    assert result.failure is not None
    assert result.switches == switches
    assert not explore(
        model_of(design, ops, built=built), watch=[designs], bound=switches - 1
    ).failure


@pytest.mark.parametrize(("design", "ops", "built", "schedules"), RIGHT)
def test_a_right_design_is_proved(
    design: type[Design], ops: str, built: bool, schedules: int
) -> None:
    """A right design passes all schedules that matter, and there are as many as there must be."""
    result = explore(model_of(design, ops, built=built), watch=[designs])
    assert result.proved, result
    assert result.schedules == schedules


# Their threads take so many steps that running every schedule takes minutes; or they can deadlock,
# which ends the search.
BIG = (designs.Elected, designs.LazyLock, designs.TwoLocks)
SMALL = [
    case[:3]
    for case in [*WRONG, *RIGHT]
    if len(case[1].split()) == 2 and not issubclass(case[0], BIG)
]


@pytest.mark.parametrize("bound", [1, 2, None])
@pytest.mark.parametrize(("design", "ops", "built"), SMALL)
def test_reduction_loses_no_outcome(
    design: type[Design],
    ops: str,
    built: bool,
    bound: int | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The schedules that are left out end like one that is run."""

    def outcomes(limit: int | None) -> tuple[set[str], int]:
        seen: set[str] = set()
        model = model_of(design, ops, built=built, seen=seen)
        result = explore(model, watch=[designs], allow=(IndexError, KeyError), bound=limit)
        assert result.exhausted
        return seen, result.schedules

    some, reduced = outcomes(bound)
    # With a bound, and if nobody ever sleeps, every schedule is run.
    monkeypatch.setattr(Search, "_sleepers", nobody)
    every, full = outcomes(99 if bound is None else bound)
    assert some == every
    assert reduced < full if bound is None else reduced <= full
