"""Uses of the primitives that type checkers accept, with the types that they find."""

from typing import assert_type

from plugin_utils import KeyedSlots, SingletonSlot, lazy_singleton
from plugin_utils.testing import CountingFactory, run_together


class Client:
    """Stands for any instance."""

    def __init__(self, url: str = "", *, retries: int = 0) -> None:
        self.url = url
        self.retries = retries

    def close(self) -> None:
        """Release the connection."""


def make_client(url: str, retries: int) -> Client:
    """Return a client."""
    return Client(url, retries=retries)


@lazy_singleton
def client() -> Client:
    """Return the client."""
    return Client()


@lazy_singleton(close=Client.close, fork="keep", on_failure="share")
def closing_client() -> Client:
    """Return the client that is closed on reset."""
    return Client()


@lazy_singleton
def maybe() -> Client | None:
    """Return no client, for good."""
    return None


from_class = lazy_singleton(Client)
slot: SingletonSlot[Client] = SingletonSlot(close=Client.close, name="client")
made_with_type = SingletonSlot[Client]()
slots: KeyedSlots[str, Client] = KeyedSlots(close=Client.close, name="clients")


def use() -> None:
    """Use everything; the function also runs."""
    assert_type(client(), Client)
    assert_type(closing_client(), Client)
    assert_type(from_class(), Client)
    assert_type(maybe(), Client | None)
    assert_type(client.peek(), Client | None)
    assert_type(client.peek("none"), Client | str)
    assert_type(client.reset(), bool)
    assert_type(client.reset(client.peek(), close=False), bool)
    assert_type(client.__name__, str)
    with closing_client.lease() as leased:
        assert_type(leased, Client)

    assert_type(slot.get(Client), Client)
    assert_type(slot.get(make_client, "http://127.0.0.1:8000", 3), Client)
    assert_type(slot.peek(), Client | None)
    assert_type(slot.peek(0), Client | int)
    assert_type(slot.reset(expected=slot.peek()), bool)
    assert_type(made_with_type.get(Client), Client)
    with slot.lease(make_client, "http://127.0.0.1:8000", 3) as leased:
        assert_type(leased, Client)

    assert_type(slots.get("work", make_client, "http://127.0.0.1:8000", 3), Client)
    assert_type(slots.peek("work"), Client | None)
    assert_type(slots.reset("work"), bool)
    assert_type(list(slots), list[str])

    assert_type(run_together(2, client), list[Client])
    assert_type(CountingFactory(Client)(), Client)
    assert_type(lazy_singleton(CountingFactory(Client))(), Client)
    assert_type(slot.get(CountingFactory(Client), "http://127.0.0.1:8000"), Client)
