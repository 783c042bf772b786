"""Builds that fail while another thread waits."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

from tests.interleaving.models import Check, Client, Functions, call, nothing_left

if TYPE_CHECKING:
    from plugin_utils.testing.interleaving import Model

__all__ = ("failing", "interrupted", "sharing")


def failing(library: ModuleType, error: type[BaseException] = ConnectionError) -> Model:
    """Return the model in which the first of three builds fails: nobody else must suffer.

    Args:
        library: The package with the primitives.
        error: What the build raises. Its caller calls again.
    """

    def model() -> tuple[Functions, Check]:
        builds: list[str] = []

        def factory() -> Client:
            builds.append("tried")
            if len(builds) == 1:
                raise error
            return Client()

        slot = library.SingletonSlot(name="slot")

        def get() -> object:
            try:
                return slot.get(factory)
            except error:
                return slot.get(factory)

        def check(results: list[object]) -> None:
            assert all(isinstance(result, Client) for result in results), "get returned no instance"
            assert results[0] is results[1], "the threads have different instances"
            assert len(builds) == 2, f"{len(builds)} tries"
            nothing_left(library)

        return [get, get], check

    return model


def sharing(library: ModuleType) -> Model:
    """Return the model in which every build fails, and those who waited share its error."""

    def model() -> tuple[Functions, Check]:
        raised: list[ConnectionError] = []

        def factory() -> Client:
            error = ConnectionError()
            raised.append(error)
            raise error

        slot = library.SingletonSlot(on_failure="share", name="slot")

        def get() -> object:
            try:
                return slot.get(factory)
            except ConnectionError as error:
                return error

        def check(results: list[object]) -> None:
            assert {id(result) for result in results} == {id(error) for error in raised}, (
                "a caller did not get the error of its own try, or of the one that it waited for"
            )
            assert slot.peek() is None, "something was cached"
            try:
                later: object = slot.get(Client)
            except ConnectionError as error:
                later = error
            assert isinstance(later, Client), "a later call got an old error"
            nothing_left(library)

        return [get, get], check

    return model


def interrupted(library: ModuleType) -> Model:
    """Return the model in which a thread dies in its build: the other builds anew."""

    def model() -> tuple[Functions, Check]:
        builds: list[str] = []

        def factory() -> Client:
            builds.append("tried")
            if len(builds) == 1:
                raise KeyboardInterrupt
            return Client()

        slot = library.SingletonSlot(name="slot")

        def check(results: list[object]) -> None:
            built = [result for result in results if isinstance(result, Client)]
            assert len(built) == 1, "the thread that lived got no instance"
            assert slot.peek() is built[0], "its instance was not cached"
            assert len(builds) == 2, f"{len(builds)} tries"
            nothing_left(library)

        return [call(slot.get, factory)] * 2, check

    return model
