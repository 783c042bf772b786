"""What the standard library's caches do with two first callers, and what a lazy singleton does."""

import functools
import sys
from collections.abc import Callable
from threading import Barrier

import pytest

from plugin_utils import lazy_singleton
from plugin_utils.testing import CountingFactory, run_together
from tests.support.overlap import Overlap, call_together

Way = Callable[[Callable[[], object]], Callable[[], object]]


def _cached_property(factory: Callable[[], object]) -> Callable[[], object]:
    class Holder:
        @functools.cached_property
        def client(self) -> object:  # plugin-utils: ignore[LS090] the fault shown
            return factory()

    holder = Holder()
    return lambda: holder.client


WAYS: dict[str, Way] = {"cache": functools.cache, "lru_cache": functools.lru_cache(maxsize=1)}
if sys.version_info >= (3, 12):  # it had a lock before
    WAYS["cached_property"] = _cached_property


@pytest.mark.learned("cache-is-not-once", "cached-property-lost-its-lock")
@pytest.mark.parametrize("way", WAYS)
def test_standard_library_builds_for_each_first_caller(way: str) -> None:
    """Builds are counted: a cache that keeps the first of them would still leak the second."""
    both = Barrier(2)

    def build() -> object:
        both.wait(10)  # only if both callers are in here does either of them go on
        return object()

    factory = CountingFactory(build)
    run_together(2, WAYS[way](factory))
    assert factory.calls == 2


@pytest.mark.learned("cache-is-not-once", "cached-property-lost-its-lock")
def test_lazy_singleton_builds_once_for_the_same_callers() -> None:
    """It keeps a second caller out, for as long as the first one builds."""
    overlap = Overlap()

    @lazy_singleton
    def accessor() -> object:
        overlap()
        return object()

    assert len(set(map(id, call_together(accessor)))) == 1
    assert overlap.builds == 1
