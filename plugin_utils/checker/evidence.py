"""What speaks against a finding: who comes to the site, when, and with which key."""

from __future__ import annotations

import ast
from collections.abc import Callable

from plugin_utils.checker.analysis import Analysis
from plugin_utils.checker.builders import instance_of, values_of
from plugin_utils.checker.definitions import Class, Function
from plugin_utils.checker.elsewhere import is_guarded_elsewhere, is_per_thread_elsewhere
from plugin_utils.checker.import_time import is_filled_at_import, is_made_at_import
from plugin_utils.checker.instances import parts_of
from plugin_utils.checker.leaks import class_built, gives_one
from plugin_utils.checker.makers import Makes, is_of_a_loop
from plugin_utils.checker.model import Level
from plugin_utils.checker.module import Module
from plugin_utils.checker.package import classes_made_by
from plugin_utils.checker.sites import Site
from plugin_utils.checker.surroundings import has_main_thread, is_called_by_loop
from plugin_utils.checker.syntax import last_name, nodes_in
from plugin_utils.checker.words import words_of

__all__ = ("is_plain", "limit", "limit_of")

_DEPTH = 2
# No two threads, tasks or loops get the same from these.
_CALLERS = frozenset("""
    currentThread current_task current_thread get_event_loop get_ident get_native_id
    get_running_loop getcurrent
    """.split())  # fmt: skip
# Whoever starts the program runs these once, before there are threads.
_STARTS = frozenset("build_app create_app lifespan main make_app".split())
_COMMANDS = frozenset({"command", "group"})


def limit(site: Site, analysis: Analysis) -> Level:
    """Return the level above which `site` is not reported, whatever it builds."""
    module = analysis.module
    if _has_key_of_caller(site, module) or is_filled_at_import(site.slot, site.flow, analysis):
        return Level.INFO
    if is_per_thread_elsewhere(site, module) or is_guarded_elsewhere(site, module):
        return Level.INFO
    if _registers(site.function) or is_plain(site.store.value, site.function, module):
        return Level.INFO
    if _is_for_values(site.function, module):
        return Level.INFO
    level = limit_of(site.function, analysis)
    if level is not Level.HIGH:
        return level
    if is_made_at_import(site, analysis):
        return Level.MEDIUM
    built = class_built(site.store.value, site.function, module)
    if built is None:
        return Level.HIGH
    if built[0] is not site.function.owner and gives_one(*built):
        return Level.INFO
    is_of_loop = not site.function.is_async and _is_for_a_loop(*built)
    return Level.MEDIUM if is_of_loop or _only_keeps(*built) else Level.HIGH


def limit_of(function: Function, analysis: Analysis) -> Level:
    """Return the level above which nothing in `function` is reported, for the sake of who calls."""
    if is_called_by_loop(function, analysis.module):
        return Level.INFO
    if has_main_thread(analysis.module) or _is_reached_only(function, analysis, _starts_program):
        return Level.MEDIUM
    if not function.is_async and _is_reached_only(function, analysis, _is_coroutine):
        return Level.INFO
    return Level.HIGH


def is_plain(value: ast.expr, function: Function, module: Module) -> bool:
    """Tell whether `value` is an instance of a class without state, here or in a module beside."""
    built = class_built(value, function, module)
    return built is not None and instance_of(*built, look_further=True) is Makes.VALUE


def _is_for_values(function: Function, module: Module) -> bool:
    """Tell whether a metaclass that makes singletons is used for classes without state only."""
    if function.owner is None or function.name != "__call__":
        return False
    made = list(classes_made_by(function.owner, module))
    return bool(made) and all(
        instance_of(found, where, look_further=True) is Makes.VALUE for found, where in made
    )


def _registers(function: Function) -> bool:
    """Tell whether `function` gives back what it was given, as a decorator does, at import."""
    returned = [n.value for n in function.own_nodes if isinstance(n, ast.Return)]
    given = function.params[:1] if function.owner is None else function.params[1:2]
    return bool(returned) and all(v is not None and last_name(v) in given for v in returned)


def _has_key_of_caller(site: Site, module: Module) -> bool:
    """Tell whether the key contains the thread, the task or the loop that comes."""
    return any(_names_caller(key, site.function, module, _DEPTH) for key in site.keys)


def _names_caller(key: ast.expr, function: Function, module: Module, depth: int) -> bool:
    for node in nodes_in([key]):
        match node:
            case ast.Call(func=ast.Name(id=name)) if name in module.functions and depth:
                other = module.functions[name]
                returned = (n.value for n in other.own_nodes if isinstance(n, ast.Return))
                if any(v and _names_caller(v, other, module, depth - 1) for v in returned):
                    return True
            case ast.Call(func=func) if last_name(func) in _CALLERS:
                return True
            case ast.Name(id=name) if "loop" in words_of(name):
                return True
            case ast.Name(id=name) if depth and name in function.bound:
                values = values_of(name, function)
                if any(_names_caller(v, function, module, depth - 1) for v in values):
                    return True
            case _:
                pass
    return False


def _is_reached_only(
    function: Function, analysis: Analysis, accepts: Callable[[Function], bool]
) -> bool:
    """Tell whether one comes to `function`, in its module, only by way of what is accepted."""
    seen: set[Function] = set()
    todo = [function]
    is_accepted = False
    while todo:
        one = todo.pop()
        if accepts(one):
            is_accepted = True
        elif one not in seen:
            seen.add(one)
            callers = [c.caller for c in analysis.calls_of(one)] if one.is_private else []
            if not callers:
                return False
            todo += callers
    return is_accepted and not any(one.name in analysis.passed_on for one in seen)


def _is_coroutine(function: Function) -> bool:
    return function.is_async


def _starts_program(function: Function) -> bool:
    commands = {name.rpartition(".")[2] for name in function.decorators if "." in name}
    return (
        function.name in _STARTS
        or function.name.startswith("pytest_")
        or not _COMMANDS.isdisjoint(commands)
        or any(_parses_arguments(node) for node in function.own_nodes)
    )


def _parses_arguments(node: ast.AST) -> bool:
    """Tell whether `node` reads the command line, which only a program does."""
    return isinstance(node, ast.Call) and last_name(node.func) == "parse_args"


def _is_for_a_loop(found: Class, module: Module) -> bool:
    """Tell whether what is built holds a lock or a queue for the tasks of one loop."""
    values = (value for value, _ in parts_of(found))
    return any(isinstance(v, ast.Call) and is_of_a_loop(v.func, module) for v in values)


def _only_keeps(found: Class, module: Module) -> bool:
    """Tell whether an instance keeps what it was given and does no more, whatever its name says."""
    init = found.methods.get("__init__")
    if init is None or any(map(_does_something, init.node.body)):
        return False
    return instance_of(found, module, look_further=True, by_name=False) is Makes.VALUE


def _does_something(statement: ast.stmt) -> bool:
    match statement:
        case ast.Expr(value=ast.Constant()) | ast.Assign() | ast.AnnAssign() | ast.Pass():
            return False
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Call(func=func)))):
            return last_name(func) != "super"
        case _:
            return True
