"""The command `plugin-utils`: one word for what to do, the rest for whoever does it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module

__all__ = ("main",)

# A subcommand is imported when it is asked for, so that one never pays for another.
_COMMANDS = {
    "check": ("plugin_utils.checker.command", "check", "find racy lazy singletons in source files"),
    "rule": ("plugin_utils.checker.command", "rule", "explain a rule of `check`"),
    "vendor": ("plugin_utils.vendoring", "main", "write the primitives into one file"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one subcommand and return its exit code; a wrong or missing one gives 2."""
    given = sys.argv[1:] if arguments is None else arguments
    name, rest = (given[0], given[1:]) if given else ("", ())
    if name in {"-h", "--help"}:
        print(_usage())
        return 0
    if name not in _COMMANDS:
        trouble = f"there is no command {name!r}" if given else "a command is missing"
        print(f"plugin-utils: {trouble}\n\n{_usage()}", file=sys.stderr)
        return 2
    if sys.stdout is None:  # the shell has closed it: `>&-`
        sys.stdout = os.fdopen(_nowhere(), "w")
    module, function, _ = _COMMANDS[name]
    command: Callable[[Sequence[str]], int] = getattr(import_module(module), function)
    try:
        code = command(rest)
        sys.stdout.flush()
    except BrokenPipeError:  # whoever read, `head` for one, has enough
        _discard_output()
        return 1
    except OSError as error:  # a full disk, say
        print(f"plugin-utils: {error}", file=sys.stderr)
        _discard_output()
        return 2
    return code


def _discard_output() -> None:
    """Python flushes once more at exit: to nowhere."""
    os.dup2(_nowhere(), sys.stdout.fileno())


def _nowhere() -> int:
    return os.open(os.devnull, os.O_WRONLY)


def _usage() -> str:
    lines = [f"  {name:<8}{about}" for name, (_, _, about) in _COMMANDS.items()]
    return "\n".join(["usage: plugin-utils COMMAND ...", "", "commands:", *lines])
