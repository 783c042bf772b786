"""What the marks above a block ask for.

A mark is an HTML comment alone on its line, `<!--pytest.mark.NAME(...)-->`, as pytest-codeblocks
reads it. Besides pytest's own `skip`, `skipif` and `xfail` there are:

- `runs_as("command")`: the block cannot run as shown; this stands in for it and does run. It runs
  in the project root: as Python for a Python block, as bash for any other.
- `not_run("reason")`: the block does not run; the reader is shown the reason.
- `goes_wrong("races" | "leaks", raises=Error, within=seconds)`: the block is wrong on purpose. Each
  of several runs must fail with `raises`, or the test fails.
- `goes_wrong("hangs", within=seconds)`: the block must still be running after `within` seconds.

Names in a mark mean what they mean in the block after it ran; a name that the block does not know
is imported. That happens in the block's own process, so nothing of a page is evaluated in pytest's.
"""

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import CodeType
from typing import NamedTuple

__all__ = ("KINDS", "NOT_RUN", "OWN_MARKS", "Call", "Plan", "Wrong", "compiled", "parse", "plan")

KINDS = ("races", "hangs", "leaks")
NOT_RUN = frozenset({"not_run", "skip", "skipif"})
OWN_MARKS = frozenset({"goes_wrong", "not_run", "runs_as"})
USELESS = frozenset({"filterwarnings", "parametrize", "usefixtures"})


class Call(NamedTuple):
    """A mark, taken apart but not evaluated."""

    name: str
    args: tuple[ast.expr, ...]
    options: Mapping[str, ast.expr]

    def text(self) -> str:
        """Return the one string that the mark must be given."""
        value = self.args[0] if len(self.args) == 1 else None
        if isinstance(value, ast.Constant) and isinstance(value.value, str) and value.value.strip():
            return value.value
        message = f"{self.name} takes one non-empty string, as in {self.name}('...')"
        raise ValueError(message)


@dataclass(frozen=True, slots=True)
class Wrong:
    """How a block goes wrong on purpose, and how many seconds it is given for that."""

    kind: str
    within: float | None


@dataclass(slots=True)
class Plan:
    """What all marks of a block come to."""

    not_run: str | None = None
    """Why the block may not run here, or never runs; such a block counts against the limit."""
    never: bool = False
    runs_as: str | None = None
    wrong: Wrong | None = None
    others: list[tuple[str, tuple[object, ...], dict[str, object]]] = field(default_factory=list)
    """Marks to put on the item, for `-m` and for other plugins: name, arguments, options."""


def parse(source: str) -> Call:
    """Take `pytest.mark.NAME(...)` apart.

    Raises:
        ValueError: `source` is not of that form.
    """
    try:
        node = ast.parse(source.strip(), mode="eval").body
    except SyntaxError as error:
        message = f"{source!r} is not Python: {error.msg}"
        raise ValueError(message) from None
    call = node if isinstance(node, ast.Call) else ast.Call(node, [], [])
    options = {keyword.arg: keyword.value for keyword in call.keywords}
    prefix, _, name = ast.unparse(call.func).rpartition(".")
    if prefix == "pytest.mark":
        return Call(name, tuple(call.args), {key: value for key, value in options.items() if key})
    message = f"{source!r} is not a mark; write pytest.mark.NAME(...)"
    raise ValueError(message)


class Compiled(NamedTuple):
    """A mark for the block's process to evaluate."""

    name: str
    source: str
    args: list[CodeType]
    options: dict[str, CodeType]
    modules: list[str]
    """What it may name, as far as those are modules: `json.decoder.JSONDecodeError` names two."""


def compiled(source: str) -> Compiled:
    """Compile what a mark is given."""
    call = parse(source)
    values = (*call.args, *call.options.values())
    nodes = [node for value in values for node in ast.walk(value)]
    named = [node for node in nodes if isinstance(node, ast.Name | ast.Attribute)]
    return Compiled(
        call.name,
        source,
        [_compile(value) for value in call.args],
        {name: _compile(value) for name, value in call.options.items()},
        [ast.unparse(node) for node in named],
    )


def _compile(value: ast.expr) -> CodeType:
    return compile(ast.Expression(value), "mark", "eval", dont_inherit=True)


def plan(marks: Iterable[str], importorskip: str | None) -> Plan:
    """Work out what the marks of a block ask for.

    Raises:
        ValueError: A mark is malformed, or cannot mean anything for a block.
    """
    result = Plan()
    for call in map(parse, marks):
        if call.name in OWN_MARKS:
            result.others.append((call.name, (), {}))
        if call.name in NOT_RUN:
            result.never |= call.name == "not_run"
            result.not_run = call.text() if call.name == "not_run" else _reason(call)
        elif call.name == "runs_as":
            result.runs_as = call.text()
        elif call.name == "goes_wrong":
            result.wrong = _wrong(call)
        elif call.name in USELESS:
            message = f"{call.name} has no effect on a block of a page; remove it"
            raise ValueError(message)
        elif call.name == "xfail":
            if "run" in call.options:
                message = "a block that must not run is not_run('reason'), not xfail(run=False)"
                raise ValueError(message)
        else:
            values = {name: _literal(node) for name, node in call.options.items()}
            result.others.append((call.name, tuple(map(_literal, call.args)), values))
    if importorskip:
        result.not_run = f"importorskip({importorskip})"
    return result


def _reason(call: Call) -> str:
    return ast.unparse(call.options["reason"]) if "reason" in call.options else call.name


def _wrong(call: Call) -> Wrong:
    kind = _literal(call.args[0]) if len(call.args) == 1 else None
    if kind not in KINDS:
        message = f"goes_wrong takes one of {', '.join(map(repr, KINDS))}, not {kind!r}"
        raise ValueError(message)
    needed = "within" if kind == "hangs" else "raises"
    unknown = set(call.options) - {"within", needed}
    if unknown or needed not in call.options:
        message = f"goes_wrong({kind!r}) needs {needed}=... and takes no {sorted(unknown)}"
        raise ValueError(message)
    within = _literal(call.options["within"]) if "within" in call.options else None
    if not isinstance(within, int | float | None) or (within is not None and within <= 0):
        message = f"goes_wrong takes within= as seconds above 0, not {within!r}"
        raise ValueError(message)
    return Wrong(str(kind), within)


def _literal(node: ast.expr) -> object:
    try:
        return ast.literal_eval(node)
    except ValueError:
        message = f"{ast.unparse(node)} must be written out: only `raises` and conditions are names"
        raise ValueError(message) from None
