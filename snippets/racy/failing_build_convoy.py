"""The server is down, and eight callers wait for eight time limits, one after the other."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import ClassVar

from plugin_utils import lazy_singleton


class Client:
    """Stands for an SDK client whose server does not answer."""

    tries: ClassVar[list[Client]] = []

    def __init__(self) -> None:
        self.tries.append(self)
        msg = "no answer within 30 s"
        raise TimeoutError(msg)


@lazy_singleton
def get_client() -> Client:
    """Return the client, built on the first call that succeeds."""
    return Client()


if __name__ == "__main__":
    with ThreadPoolExecutor(8) as threads:
        calls = [threads.submit(get_client) for _ in range(8)]
    assert all(isinstance(call.exception(), TimeoutError) for call in calls)
    waited = 30 * len(Client.tries)
    assert waited == 30, f"the last caller waited for {waited} s"
