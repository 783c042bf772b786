"""The server that forks a process for each block, and that process.

A new interpreter executes this file; nothing imports it there. Up to the end of the block it
imports only what a new interpreter has imported by itself. So the block finds the modules that a
reader's finds: `urllib.parse` is not there because the runner happened to need it.

The process ends as any Python process does. What became of the block is written on the way out,
when threads have ended and the block's own exit handlers have run. Only then the interpreter lets
go of the block's objects: what they print still counts, and an error in `__del__` is noted.
"""

import _thread
import io
import marshal
import os
import sys

TYPE_CHECKING = False  # `typing` would have to be imported
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import CodeType
    from typing import Any

    Part = CodeType | tuple[str, tuple[str, int, int | None, str | None]]

__all__ = ("run", "serve")

REST = 20.0
"""Seconds that a process gets, once its block has run, to be judged and to end."""
SIGKILL = 9
_TOLD = ("__cause__", "__context__", "__traceback__")
"""What an error tells besides itself."""
CO_COROUTINE = 128


def serve(channel: int) -> None:
    """Fork a process for each job that arrives; return in each of them when its block has run."""
    with open(channel, "r+b", buffering=0) as pytest:
        job = _next_job(pytest)
    return run(job) if job else None


def _next_job(pytest: "io.FileIO") -> str:
    """Return, in a new process, the job to run; or nothing, in the server, when no more come."""
    job, pid = "", -1
    while pid and (job := os.fsdecode(pytest.readline()).removesuffix("\n")):
        pid = os.fork()
        _try(os.setpgid, pid, pid)  # both set it: neither knows who comes first
        _follow(pytest, pid)
    return job


def _follow(pytest: "io.FileIO", pid: int) -> None:
    """Tell pytest, from the server, who the new process is and how it ended."""
    if pid and _try(pytest.write, b"%d\n" % pid):  # or else pytest was interrupted
        _try(pytest.write, b"%d\n" % _wait(pid))


def _wait(pid: int) -> int:
    """Wait for the process to end; end what it leaves behind; return its exit status."""
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)  # still a zombie, so its group is its own
    _try(os.killpg, pid, SIGKILL)
    _, status = os.waitpid(pid, 0)
    # What left the group has been handed to this process, where it is one that adopts. Who is
    # killed hands on its own children, so this looks again until there are none.
    while killed := [child for child in _children() if _try(os.kill, child, SIGKILL)]:
        for child in killed:
            os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def _children() -> list[int]:
    """Return the children of this process, dead ones included."""
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:  # the usual case, and it spares the search
        return []
    pids = [int(name) for name in os.listdir("/proc") if name.isdecimal()]
    return [pid for pid in pids if _parent(pid) == os.getpid()]


def _parent(pid: int) -> int | None:
    """Return the parent of a process, or nothing if it has gone."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as stat:
            return int(stat.read().rpartition(b")")[2].split()[1])
    except OSError:
        return None


def _try(call: "Callable[..., object]", *arguments: object) -> bool:
    """Call the system, which may refuse: what is meant may be gone, or another user's by now."""
    try:
        call(*arguments)
    except OSError:
        return False
    return True


def run(file: str) -> None:
    """Run the block of a job; call it last in a process that is used for nothing else.

    Args:
        file: What `Runner` wrote for this process. The job itself is a file beside it.
    """
    with open(file, "rb") as opened:
        job: dict[str, Any] = marshal.load(opened)
    _enter(job)
    skipped = _skipped(job)
    if skipped:
        return _write(job, skipped)
    names = _become_main(job)
    failures: list[BaseException] = []
    watch = _Watch(failures, os.path.join(job["folder"], "late"))
    said: list[tuple[str, str]] = []
    process = os.getpid()

    def finish() -> None:
        _arm(REST)
        outcome, wanted = _weigh(job, failures, names)
        _write(job, {**outcome, "said": said})
        failures.clear()  # it holds the block's frames, and with them its objects
        watch.report_made(wanted)

    # The first function to be registered is the last to be called: whatever the block registers,
    # and the interpreter's own wait for threads, comes before it.
    _built_in("atexit").register(lambda: finish() if os.getpid() == process else None)
    try:
        _execute(job, names, said)
    except BaseException as error:  # whatever the block raises is its result
        _leave_to_forked(error, process)
        if not isinstance(error, SystemExit) or error.code not in (None, 0):
            failures.insert(0, error)


def _leave_to_forked(error: BaseException, process: int) -> None:
    """Raise the error again in a process that the block forked, whose own it is."""
    if os.getpid() != process:
        raise error


def _enter(job: "dict[str, Any]") -> None:
    """Take on the job's folders, outputs, time limit and environment."""
    for number, name in enumerate((os.devnull, "stdout", "stderr")):
        file = os.path.join(job["folder"], name)
        opened = os.open(file, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        os.dup2(opened, number)
        os.close(opened)
    streams: Any = (sys.stdout, sys.stderr)
    for stream in streams:
        stream.reconfigure(line_buffering=True)  # what a reader's terminal does
    _arm(job["limit"])
    os.environ.clear()
    os.environ.update(job["environ"])
    path = job["environ"]["PYTHONPATH"].split(os.pathsep)
    sys.path[1:1] = [entry for entry in path if entry not in sys.path]


def _arm(limit: float) -> None:
    """Have the process end itself after so many seconds, with the stack of each thread.

    A timer does it: the watchdog of `faulthandler` is a thread, and a process that the block forks
    would wait for that thread, which it does not have, when it ends. Where there is no timer,
    pytest ends the process a little later, without the stacks.
    """
    signals: Any = _built_in("_signal")
    faulthandler = _built_in("faulthandler")
    faulthandler.enable(file=2)
    if hasattr(signals, "setitimer"):
        faulthandler.register(signals.SIGALRM, file=2, chain=True)
        signals.setitimer(signals.ITIMER_REAL, limit)


def _built_in(name: str) -> "Any":
    """Import a module that is part of the interpreter, and leave no trace of that."""
    found = sys.modules.get(name)
    module = __import__(name)
    if found is None:
        del sys.modules[name]
    return module


def _become_main(job: "dict[str, Any]") -> "dict[str, Any]":
    """Make this process one that was started to run the block."""
    module = type(sys)("__main__")
    names: dict[str, Any] = module.__dict__
    names["__file__"] = job["copy"]
    names["__builtins__"] = sys.modules["builtins"]
    sys.modules["__main__"] = module
    sys.argv = [job["copy"]]
    os.chdir(job["start"])
    return names


class _Watch:
    """Collects what Python can only report: a thread's error, and an error in `__del__`.

    Its hooks outlive the modules of the block, and of this file: what they need is their own.
    """

    def __init__(self, failures: list[BaseException], late: str) -> None:
        self._failures = failures
        self._late = late
        self._wanted: Any = ()
        self._file = -1
        """Open once the report is made."""
        self._process = os.getpid()
        self._getpid, self._write, self._isinstance = os.getpid, os.write, isinstance
        self._thread_default: Callable[[Any], None] = vars(_thread)["_excepthook"]
        self._default = sys.__unraisablehook__
        sys.unraisablehook = self.unraisable
        # Where `threading` is not there yet, it takes its hook from here.
        _thread.__dict__["_excepthook"] = self.in_thread
        for threading in [sys.modules[name] for name in ("threading",) if name in sys.modules]:
            threading.__dict__["excepthook"] = self.in_thread

    def in_thread(self, lost: "Any") -> None:
        """Note the error that ended a thread."""
        if self._getpid() != self._process:  # a process that the block forked is left alone
            self._thread_default(lost)
        elif not isinstance(lost.exc_value, SystemExit | None):
            self._failures.append(lost.exc_value)

    def unraisable(self, lost: "Any") -> None:
        """Note an error that nobody could catch."""
        if self._getpid() != self._process:
            self._default(lost)
        elif self._file < 0:
            self._failures.extend(error for error in [lost.exc_value] if error is not None)
        else:
            wanted = self._isinstance(lost.exc_value, self._wanted)
            self._write(self._file, b"w" if wanted else b"u")
            self._default(lost)

    def report_made(self, wanted: "Any") -> None:
        """From now on only note that there was an error, and whether it is a wanted one."""
        self._wanted = wanted
        self._file = os.open(self._late, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)


def _execute(job: "dict[str, Any]", names: "dict[str, Any]", said: list[tuple[str, str]]) -> None:
    if job["session"] is not None:
        _converse(job["session"], names, said)
    elif job["parts"] is not None:
        # Among the built-in names, so that the block's own are those of its text.
        built_in = sys.modules["builtins"]
        vars(built_in).update({"@pytest_ar": _Details(), "@py_builtins": built_in})
        _execute_parts(job["parts"], names)
    else:
        _call("_languages", "run", job["job"])


def _execute_parts(parts: "Sequence[Part]", names: "dict[str, Any]") -> None:
    runner: Any = None
    try:
        for part in parts:
            if isinstance(part, tuple):
                raise SyntaxError(*part)
            if part.co_flags & CO_COROUTINE:
                import asyncio

                runner = runner or asyncio.Runner()
                runner.run(eval(part, names))
            else:
                exec(part, names)
    finally:
        if runner:
            runner.close()


def _converse(
    session: "Sequence[Part]", names: "dict[str, Any]", said: list[tuple[str, str]]
) -> None:
    """Run the prompts of a session; note what each of them prints, and what it raises."""
    process, terminal = os.getpid(), sys.stdout
    sys.stdout = printed = io.StringIO()
    try:
        for part in session:
            printed.seek(0)
            printed.truncate()
            error = ""
            try:
                _execute_parts([part], names)
            except BaseException as raised:
                _leave_to_forked(raised, process)
                error = _last_line(raised)
            said.append((printed.getvalue(), error))
    finally:
        sys.stdout = terminal


def _last_line(error: BaseException) -> str:
    """Return how a traceback of the error ends; the interpreter writes it, without a module."""
    is_alone = error.__suppress_context__  # to set the cause sets this, too
    kept = {name: getattr(error, name) for name in _TOLD}
    terminal = sys.stderr
    sys.stderr = written = io.StringIO()
    try:
        for name in _TOLD:  # an error can be one that refuses to be assigned to
            BaseException.__setattr__(error, name, None)
        sys.__excepthook__(type(error), error, None)
    finally:
        sys.stderr = terminal
        for name, value in kept.items():
            BaseException.__setattr__(error, name, value)
        BaseException.__setattr__(error, "__suppress_context__", is_alone)
    text = written.getvalue()
    return text.splitlines(keepends=True)[-1] if isinstance(error, SyntaxError) else text


class _Details:
    """Stands for pytest's part in a rewritten `assert`, and fetches it when one fails."""

    def __getattr__(self, name: str) -> "Any":
        return _call("_asserts", "detail", name)


class _MarkError(Exception):
    """A mark cannot be evaluated."""


def _evaluate(
    job: "dict[str, Any]", mark: "tuple[Any, ...]", names: "Mapping[str, Any]"
) -> "tuple[list[Any], dict[str, Any]]":
    """Evaluate what a mark is given; a name is found in the block, imported, or built in."""
    _, source, args, options, modules = mark
    known: dict[str, Any] = {}
    for dotted in modules:
        try:
            known[dotted.partition(".")[0]] = __import__(dotted)
        except ImportError:  # it is no module
            pass
    known.update(names)
    try:
        given = [eval(value, {}, known) for value in args]
        return given, {name: eval(value, {}, known) for name, value in options.items()}
    except Exception as error:
        message = f"{job['place']}: the mark {source} cannot be evaluated: {error!r}"
        raise _MarkError(message) from None


def _skipped(job: "dict[str, Any]") -> "dict[str, Any] | None":
    """Return the outcome if the block must not run here, or if that cannot be told."""
    try:
        if job["needs"]:
            __import__(job["needs"])
        for mark in job["marks"]:
            if mark[0] in ("skip", "skipif"):
                args, options = _evaluate(job, mark, {})
                if mark[0] == "skip" or any(args):
                    return {"verdict": "skipped", "text": str(options.get("reason", mark[1]))}
    except ImportError as error:
        return {"verdict": "skipped", "text": str(error)}
    except _MarkError as error:
        return {"verdict": "failed", "text": str(error)}
    return None


def _expected(job: "dict[str, Any]", names: "Mapping[str, Any]") -> "tuple[dict[str, Any], Any]":
    """Return what the outcome is to say of the page, and the errors that the page names."""
    for mark in job["marks"]:
        if mark[0] in ("goes_wrong", "xfail"):
            args, options = _evaluate(job, mark, names)
            told = {"expects": mark[0], "mark": mark[1]}
            if mark[0] == "goes_wrong":  # nothing that a block raises is a hang
                return told, options.get("raises", ())
            if not args or any(args):  # pytest's rules, but strict: a page that says so means it
                told["reason"] = str(options.get("reason", ""))
                strict = bool(options.get("strict", True))
                return {**told, "strict": strict}, options.get("raises", BaseException)
    return {}, ()


def _weigh(
    job: "dict[str, Any]", failures: list[BaseException], names: "Mapping[str, Any]"
) -> "tuple[dict[str, Any], Any]":
    """Weigh what failed against the marks; return the outcome, and the errors that they name."""
    try:
        told, wanted = _expected(job, names)
    except _MarkError as error:
        return {"verdict": "failed", "text": str(error)}, ()
    unwanted = not all(_is(failure, wanted) for failure in failures)
    return {
        **told,
        "failures": _shown(job, failures) if unwanted else [type(e).__name__ for e in failures],
        "unwanted": unwanted,
        "output_may_differ": issubclass(AssertionError, wanted),
    }, wanted


def _is(failure: BaseException, wanted: "Any") -> bool:
    """Tell whether it is one of the wanted classes, or reports one of them."""
    reports = getattr(failure, "reports_cause", False)
    return isinstance(failure, wanted) or (reports and isinstance(failure.__cause__, wanted))


def _shown(job: "dict[str, Any]", failures: list[BaseException]) -> list[str]:
    os.chdir(job["base"])  # a place is shown as seen from there
    try:
        texts: list[str] = _call("_describe", "describe", job["job"], failures)
    finally:
        _try(os.chdir, job["start"])  # the block may have removed it
    return texts


def _call(module: str, function: str, *arguments: object) -> "Any":
    """Call a function of this package, found past any file that the block has put in its folder."""
    path = sys.path[:]
    sys.path[:] = filter(None, path)
    try:
        found = __import__(f"plugin_utils.docs_testing.{module}", fromlist=[function])
        return getattr(found, function)(*arguments)
    finally:
        sys.path[:] = path


def _write(job: "dict[str, Any]", outcome: "dict[str, Any]") -> None:
    with open(os.path.join(job["folder"], "outcome"), "wb") as file:
        marshal.dump(outcome, file)
