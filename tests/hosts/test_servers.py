"""Programs that plugins and apps run in: prefork servers, event loops, pools of threads."""

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from plugin_utils.testing import run_together
from tests.hosts.serving import LIMIT, Program, Serving, builds
from tests.support import child
from tests.support.socket_counter import SocketCounter

GUNICORN = (
    "-m",
    "gunicorn",
    "--bind",
    "fd://{fd}",
    "--preload",
    "--workers",
    "2",
    "--threads",
    "4",
)
UVICORN = ("-m", "uvicorn", "--fd", "{fd}", "--log-level", "warning")
CELERY = ("-m", "celery", "--app", "tests.hosts.apps.tasks", "worker", "--pool", "prefork")
Use = Callable[..., Path]


@pytest.fixture
def server() -> Iterator[SocketCounter]:
    """The server that the clients connect to. At the end of the test none may be connected."""
    with SocketCounter() as counter:
        yield counter
        assert counter.wait_until_all_closed(10.0), f"{counter.open} connections are open"


@pytest.fixture
def use(server: SocketCounter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Use:
    """Sets what the apps read, and returns the file that they note their builds in."""

    def use(accessor: str, *, warm: bool = False) -> Path:
        file = tmp_path / "builds"
        file.touch()
        monkeypatch.setenv("ACCESSOR", accessor)
        monkeypatch.setenv("SERVER_PORT", str(server.port))
        monkeypatch.setenv("BUILDS", str(file))
        monkeypatch.setenv("WARM", "1" if warm else "")
        monkeypatch.setenv("CELERY_FOLDER", str(tmp_path))
        return file

    return use


def serving_processes(app: Serving, number: int) -> set[int]:
    """Ask until so many processes have answered, and return which they are."""
    seen: set[int] = set()
    for _ in range(500):
        answer = app.ask()
        assert answer["answer"] == "ok"
        seen.add(answer["pid"])
        if len(seen) == number:
            return seen
    msg = f"500 requests were all served by {seen}"
    raise AssertionError(msg)


def test_gunicorn(use: Use, server: SocketCounter) -> None:
    """The parent has built; each of two workers, with four threads, builds a client of its own."""
    file = use("lazy_singleton", warm=True)
    with Serving(*GUNICORN, "tests.hosts.apps.wsgi:app") as app:
        for _ in range(4):
            answers = run_together(16, app.ask, timeout=LIMIT)
            assert {answer["answer"] for answer in answers} == {"ok"}
        workers = serving_processes(app, 2)
        assert builds(file) == dict.fromkeys({app.pid, *workers}, 1)
        assert server.opened == 3


def test_gunicorn_with_a_cache(use: Use, server: SocketCounter) -> None:
    """The same with `functools.cache`: both workers talk on the parent's connection."""
    file = use("cache", warm=True)
    with Serving(*GUNICORN, "tests.hosts.apps.wsgi:app") as app:
        serving_processes(app, 2)
        assert builds(file) == {app.pid: 1}
        assert server.opened == 1


def test_gunicorn_without_a_lock(use: Use) -> None:
    """The same with a plain accessor: a worker builds more than one."""
    file = use("racy")
    with Serving(*GUNICORN, "tests.hosts.apps.wsgi:app") as app:
        run_together(32, app.ask, timeout=LIMIT)
        assert max(builds(file).values()) > 1


@pytest.mark.parametrize(("accessor", "single"), [("lazy_singleton", True), ("racy", False)])
def test_uvicorn(accessor: str, single: bool, use: Use, server: SocketCounter) -> None:  # noqa: FBT001 - a parameter
    """32 requests on one event loop share a client, which the shutdown closes."""
    file = use(accessor)
    # It closes down, and then lets the signal that it got end it.
    with Serving(*UVICORN, "tests.hosts.apps.asgi:app", status=-signal.SIGTERM) as app:
        answers = run_together(32, app.ask, timeout=LIMIT)
        assert {answer["answer"] for answer in answers} == {"ok"}
        assert (server.opened == 1) is single
        assert (builds(file) == {app.pid: 1}) is single


def _send_tasks() -> None:
    from tests.hosts.apps.tasks import app

    sent = [app.send_task("ask") for _ in range(8)]
    answers = [each.get(timeout=60) for each in sent]
    assert [answer for _, answer in answers] == [["ok"] * 4] * 8
    print(*{pid for pid, _ in answers})


@pytest.mark.parametrize(
    ("accessor", "warm", "each"),
    [("lazy_singleton", True, {1}), ("racy", False, {2, 3, 4})],
    ids=["lazy_singleton", "racy"],
)
def test_celery(accessor: str, warm: bool, each: set[int], use: Use) -> None:  # noqa: FBT001 - a parameter
    """Two prefork workers run tasks that start four threads; each worker builds its own client."""
    file = use(accessor, warm=warm)
    options = ("--concurrency", "2", "--without-gossip", "--without-mingle", "--without-heartbeat")
    with Program(*CELERY, *options):
        ended = child.run(_send_tasks, limit=LIMIT)
        workers = {int(pid) for pid in ended.output.split()}
    made = builds(file)
    assert workers <= made.keys()
    assert {made[pid] for pid in workers} <= each


def _fork_a_pool() -> None:
    import multiprocessing

    from tests.hosts.apps.client import get_client
    from tests.hosts.apps.pool import ask

    get_client()
    with multiprocessing.get_context("fork").Pool(2) as pool:
        print(*set(pool.map(ask, range(8), chunksize=1)))
        pool.close()
        pool.join()


@pytest.mark.parametrize(
    ("accessor", "own"), [("lazy_singleton", True), ("cache", False)], ids=["ours", "cache"]
)
def test_multiprocessing(accessor: str, own: bool, use: Use) -> None:  # noqa: FBT001 - a parameter
    """Each forked worker builds a client of its own; with a cache it has the parent's."""
    file = use(accessor)
    ended = child.run(_fork_a_pool, limit=LIMIT)
    workers = {int(pid) for pid in ended.output.split()}
    made = builds(file)
    assert set(made.values()) == {1}
    assert (workers <= made.keys()) is own
    assert os.getpid() not in made


def _work_in_threads(single: bool) -> None:  # noqa: FBT001 - passed to a child process
    from concurrent.futures import ThreadPoolExecutor

    from tests.hosts.apps.client import get_client

    def ask(_number: int) -> tuple[int, str]:
        client = get_client()
        return id(client), client.ask()

    with ThreadPoolExecutor(32) as pool:
        answers = set(pool.map(ask, range(256)))
    assert {answer for _, answer in answers} == {"ok"}
    assert (len(answers) == 1) is single


@pytest.mark.parametrize(("accessor", "single"), [("lazy_singleton", True), ("racy", False)])
def test_thread_pool(accessor: str, single: bool, use: Use, server: SocketCounter) -> None:  # noqa: FBT001 - a parameter
    """256 calls from 32 threads of a pool share a client, and the process ends cleanly."""
    file = use(accessor)
    child.run(_work_in_threads, single, limit=LIMIT)
    assert (list(builds(file).values()) == [1]) is single
    assert (server.opened == 1) is single
