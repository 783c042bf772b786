"""What a block finds around it: the blocks of these tests assert it themselves."""

import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest

from tests.docs_testing.sites import Bench

ISOLATED = {
    "home_and_folder": """
        import os, tempfile
        from pathlib import Path
        root = Path(os.environ["DOCS_ROOT"])
        assert (root / "mkdocs.yml").is_file()
        assert not list(Path.home().iterdir()) and not list(Path.cwd().iterdir())
        folders = {Path.home(), Path.cwd(), Path(tempfile.gettempdir())}
        assert len(folders) == 3
        assert not any(folder.is_relative_to(root) for folder in folders)
        for folder in folders:
            (folder / "left").touch()
    """,
    "environment": """
        import os
        names = {"FAL_KEY", "HERMES_HOME", "HONCHO_API_KEY", "XDG_CONFIG_HOME", "BENCH_TOKEN"}
        assert not names & os.environ.keys()
        assert "PYTEST_CURRENT_TEST" not in os.environ
        assert os.environ["BENCHMARK"] == "kept"
    """,
    "main_module": """
        at_first = dir()
        import __main__, sys
        from pathlib import Path
        assert __name__ == "__main__"
        block_variable = 1
        assert __main__.block_variable == 1
        assert __file__ == sys.argv[0] == __main__.__file__
        assert Path(__file__).suffix == ".py" and __spec__ is None
        assert [name for name in at_first if not name.startswith("_")] == []
    """,
    "code_names_the_page": """
        import inspect
        from pathlib import Path
        def function(): pass
        code = function.__code__
        assert Path(code.co_filename).name == "page.md"
        assert code.co_firstlineno == 6, code.co_firstlineno
        assert inspect.getsource(function).strip() == "def function(): pass"
    """,
    "imports": """
        import shelf  # from a folder of pytest's pythonpath
        import loaders  # from the project root
        import sys
        from pathlib import Path
        Path("beside.py").write_text("Y = 2")
        import beside
        assert "mkdocs" not in sys.modules and shelf.X + beside.Y == 3
    """,
    "no_input": """
        try:
            input()
        except EOFError:
            pass
        else:
            raise AssertionError("there is an input")
    """,
    "fork": """
        import os, sys
        if os.fork() == 0:
            sys.exit(0)
        _, status = os.wait()
        assert status == 0
    """,
    "fork_exit_status": """
        import os, sys
        if os.fork() == 0:
            sys.exit(3)
        assert os.waitstatus_to_exitcode(os.wait()[1]) == 3
    """,
    "fork_error": """
        import os
        reading, writing = os.pipe()
        if os.fork() == 0:
            os.dup2(writing, 2)
            raise RuntimeError("in the child")
        os.close(writing)
        assert os.waitstatus_to_exitcode(os.wait()[1]) == 1
        with os.fdopen(reading) as stderr:
            assert stderr.read().endswith("RuntimeError: in the child\\n")
    """,
    "fork_thread_and_finaliser": """
        import os, threading
        reading, writing = os.pipe()
        class Client:
            def __del__(self):
                raise OSError("in a finaliser")
        def fail():
            raise RuntimeError("in a thread")
        if os.fork() == 0:
            os.dup2(writing, 2)
            thread = threading.Thread(target=fail)
            thread.start()
            thread.join()
            Client()
            os._exit(0)
        os.close(writing)
        with os.fdopen(reading) as stderr:
            text = stderr.read()
        assert "RuntimeError: in a thread" in text and "OSError: in a finaliser" in text
    """,
    "modules": """
        import subprocess, sys
        command = [sys.executable, "-c", "import subprocess, sys; print(*sys.modules)"]
        asked = subprocess.run(command, capture_output=True, text=True).stdout.split()
        assert set(sys.modules) == set(asked)
    """,
    "submodules": """
        import concurrent, importlib, subprocess, sys, urllib, xml
        ask = (
            "import concurrent, importlib, subprocess, sys, urllib, xml\\n"
            "print([sorted(vars(each)) for each in (concurrent, importlib, urllib, xml)])"
        )
        command = [sys.executable, "-c", ask]
        asked = subprocess.run(command, capture_output=True, text=True).stdout
        found = [sorted(vars(each)) for each in (concurrent, importlib, urllib, xml)]
        assert asked == f"{found}\\n"
        assert "pytest" not in sys.modules and "plugin_utils" not in sys.modules
    """,
    "spawn": """
        import multiprocessing
        def work(queue):
            queue.put(__name__)
        if __name__ == "__main__":
            context = multiprocessing.get_context("spawn")
            queue = context.SimpleQueue()
            process = context.Process(target=work, args=(queue,))
            process.start()
            assert queue.get() == "__mp_main__"
            process.join(10)
            assert process.exitcode == 0
    """,
    "pool_left_open": """
        from concurrent.futures import ThreadPoolExecutor
        assert ThreadPoolExecutor(1).submit(int, "3").result() == 3
    """,
    "asyncio_run": """
        import asyncio
        async def main():
            return await asyncio.to_thread(int, "3")
        assert asyncio.run(main()) == 3
    """,
    "await_forms": """
        import asyncio
        async def numbers():
            yield 1
        assert [n async for n in numbers()] == [1]
        async with asyncio.timeout(10):
            await asyncio.sleep(0)
        total = await asyncio.to_thread(sum, [1, 2])
        assert total == 3
    """,
    "handlers_at_exit": """
        import atexit, logging
        atexit.register(print, "bye")
        logging.getLogger().warning("logged")
    """,
}

OUTPUT = """
<!--pytest-codeblocks:expected-output-->
```text
{}
```
"""


@pytest.fixture(scope="module")
def _settings() -> Iterator[None]:
    """Set what a developer's machine may have set."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("FAL_KEY", "HERMES_HOME", "HONCHO_API_KEY", "XDG_CONFIG_HOME", "BENCH_TOKEN"):
            patch.setenv(name, "secret")
        patch.setenv("BENCHMARK", "kept")
        yield


@pytest.mark.usefixtures("_settings")
@pytest.mark.parametrize("name", ISOLATED)
def test_a_block_has_a_place_of_its_own(name: str, bench: Bench) -> None:
    """The block's own assertions hold."""
    code = dedent(ISOLATED[name]).strip()
    report = bench.only(f"# T\n\n```python\n{code}\n```\n")
    assert report.verdict == "passed", report


def test_blocks_leave_nothing_to_each_other(bench: Bench) -> None:
    """Each block of a page has its own folders and modules."""
    code = dedent(ISOLATED["home_and_folder"]).strip()
    block = f"```python\n{code}\nimport json\nassert not hasattr(json, 'x')\njson.x = 1\n```\n\n"
    assert [report.verdict for report in bench.run(f"# T\n\n{block}{block}")] == ["passed"] * 2


def test_scripts_have_the_same_place(bench: Bench) -> None:
    """A shell finds the interpreter and the modules that a Python block finds."""
    script = """
        test -z "$(ls -A "$HOME")" -a -z "$(ls -A)" -a -f "$DOCS_ROOT/mkdocs.yml"
        test "$(python -c 'import sys; print(sys.executable)')" = {python}
        python -c 'import shelf, loaders, sys; assert "plugin_utils" not in sys.modules'
    """
    code = dedent(script).strip().format(python=sys.executable)
    assert bench.only(f"# T\n\n```bash\n{code}\n```\n").verdict == "passed"


def test_an_assertion_that_is_caught_and_shown_has_its_own_text(bench: Bench) -> None:
    """Where the output is compared, an assertion says what it says to the reader."""
    code = "try:\n    assert 1 == 2, 'no'\nexcept AssertionError as error:\n    print(error)"
    page = f"# T\n\n```python\n{code}\n```\n{OUTPUT.format('no')}"
    assert bench.only(page).verdict == "passed"


def test_reading_a_site_and_running_it_writes_nothing_into_it(bench: Bench) -> None:
    """The site's folder holds afterwards what it held before."""
    page = "# T\n\n```python\nopen('a', 'w').close()\n```\n\n```bash\ntouch b\n```\n"
    bench.run(page)
    before = set(_files(bench.folder))
    bench.run(page)
    assert set(_files(bench.folder)) == before


def _files(folder: Path) -> Iterator[tuple[Path, float]]:
    for file in folder.rglob("*"):
        if file.is_file() and file.name != "page.md" and "__pycache__" not in file.parts:
            yield file, file.stat().st_mtime
