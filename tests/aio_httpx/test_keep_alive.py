"""A real client that is bound to its loop: `httpx.AsyncClient` keeps its connections open.

Not in tests/aio, whose tests run on interpreters that have pytest and nothing else: this one is
about what httpx does with a connection whose loop is gone.
"""

import asyncio
import gc
import logging
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import httpx
import pytest

from plugin_utils import aio
from tests.support.loops import LIMIT

RUNS = 5


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # keeps the connection open
    timeout = LIMIT

    def do_GET(self) -> None:
        """Answer with the port of the client's end, which tells connections apart."""
        body = str(self.client_address[1]).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        """Keep quiet."""


@pytest.fixture
def url() -> Iterator[str]:
    """Return the address of a server on the loopback interface."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as server:
        server.daemon_threads = True
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join(LIMIT)


async def ask_twice(client: httpx.AsyncClient) -> str:
    """Return the port of the one connection that two requests share."""
    first, second = [(await client.get("/")).text for _ in range(2)]
    assert first == second
    return first


@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
def test_shared_client_fails_in_the_second_run_only(url: str) -> None:
    """The fault itself: the second loop gets a connection of the first; the third, a new one."""
    client = httpx.AsyncClient(base_url=url)
    asyncio.run(ask_twice(client))
    with pytest.raises(RuntimeError, match="Event loop is closed"):
        asyncio.run(ask_twice(client))
    asyncio.run(ask_twice(client))
    del client
    gc.collect()


@pytest.mark.promise(26, 28)
@pytest.mark.learned("client-of-another-loop")
def test_client_per_loop_that_is_closed(url: str, caplog: pytest.LogCaptureFixture) -> None:
    """Five runs, each with its own client and connection, closed on its own loop: no complaint."""

    @aio.lazy_singleton(close=httpx.AsyncClient.aclose)
    async def client() -> httpx.AsyncClient:
        return httpx.AsyncClient(base_url=url)

    async def main() -> str:
        port = await ask_twice(await client())
        assert await client.aclose()
        return port

    assert len({asyncio.run(main()) for _ in range(RUNS)}) == RUNS
    gc.collect()
    assert [each for each in caplog.records if each.levelno >= logging.WARNING] == []


@pytest.mark.promise(26)
@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
def test_client_per_loop_that_is_left(url: str, caplog: pytest.LogCaptureFixture) -> None:
    """Without `aclose` it works as well; Python warns of the sockets that were left open."""

    @aio.lazy_singleton
    async def client() -> httpx.AsyncClient:
        return httpx.AsyncClient(base_url=url)

    async def main() -> str:
        return await ask_twice(await client())

    assert len({asyncio.run(main()) for _ in range(RUNS)}) == RUNS
    client.reset()
    gc.collect()
    assert [each for each in caplog.records if each.levelno >= logging.WARNING] == []
