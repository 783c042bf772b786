"""Wrong versions of the primitives, made from the right ones: the proofs must tell each of them.

A mutant is the library's own source with one passage changed. When that passage is rewritten, the
mutation no longer applies, and a test says so.
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import plugin_utils

__all__ = ("MUTANTS", "Mutant", "mutated")

_SOURCE = Path(plugin_utils.__file__).parent
# What the primitives are made of; the other parts of the library only use them.
_PARTS = (
    *("__init__", "_factory", "_gate", "_keyed", "_lazy", "_slot", "_tenure", "_typing", "errors"),
)


@dataclass(frozen=True)
class Mutant:
    """A fault, and the change of the source that makes it.

    Args:
        fault: What is wrong.
        module: Where.
        old: The passage to be replaced, which the module has exactly once.
        new: What replaces it.
        killer: The test that must fail on it.
    """

    fault: str
    module: str
    old: str
    new: str
    killer: str

    def __str__(self) -> str:
        return self.fault.replace(" ", "_")


MUTANTS = (
    Mutant(
        "no lock",
        "_gate",
        "            with self._lock:\n                self.holder = hold\n",
        "            if self:\n                self.holder = hold\n",
        "get get",
    ),
    Mutant(
        "no re-check",
        "_slot",
        """        try:
            return self._instance  # somebody built it while we waited
        except AttributeError:
            pass
""",
        "",
        "get get",
    ),
    Mutant(
        "two reads on the fast path",
        "_slot",
        '''        try:
            return self._instance
        except AttributeError:
            pass
        return self._gate.hold("get"''',
        '''        if hasattr(self, "_instance"):
            return self._instance
        return self._gate.hold("get"''',
        "get reset",
    ),
    Mutant(
        "read outside the lock",
        "_slot",
        """        return self._gate.hold("get", self._build, factory, args, self._attempt)""",
        """        self._gate.hold("get", self._build, factory, args, self._attempt)
        return self._instance""",
        "get reset, empty",
    ),
    Mutant(
        "value dropped under the lock",
        "_slot",
        "        self._tenure = None\n        return tenure\n",
        "        self._tenure = tenure.instance = None\n        return tenure\n",
        "finaliser",
    ),
    Mutant(
        "flag first",
        "_slot",
        '''        try:
            return self._instance
        except AttributeError:
            pass
        return self._gate.hold("get"''',
        '''        if self._tenure is not None:
            return self._instance
        return self._gate.hold("get"''',
        "get get",
    ),
    Mutant(
        "owner not cleared on error",
        "_gate",
        """                try:
                    _waiting[thread] = outer
                    return work(*args)
                finally:
                    self.holder = None
""",
        """                _waiting[thread] = outer
                result = work(*args)
                self.holder = None
                return result
""",
        "failing build",
    ),
    Mutant(
        "close under the lock",
        "_slot",
        "        self._tenure = None\n        return tenure\n",
        """        self._tenure = None
        if self._close is not None and tenure.retire():
            self._close(tenure.instance)
        return None
""",
        "close",
    ),
    Mutant(
        "wait edge not removed",
        "_gate",
        """            if outer is None:
                _waiting.pop(thread, None)
            else:
                _waiting[thread] = outer
""",
        "            pass\n",
        "circle",
    ),
    Mutant(
        "holder not cleared on an interrupt",
        "_gate",
        """                    return work(*args)
                finally:
                    self.holder = None
""",
        """                    result = work(*args)
                except Exception:
                    self.holder = None
                    raise
                self.holder = None
                return result
""",
        "interrupted build",
    ),
    Mutant(
        "a shared failure is kept",
        "_slot",
        "        attempt, self._attempt = self._attempt, _Attempt()\n",
        "        attempt = self._attempt\n",
        "shared failure",
    ),
    Mutant(
        "reset does not wait for a build",
        "_slot",
        """        dropped = self._gate.hold("reset", self._take, expected)
""",
        """        dropped = self._take(expected)
""",
        "setting changes",
    ),
    Mutant(
        "one lock for all slots",
        "_gate",
        "        self._lock = _thread.RLock()\n",
        """        self._lock = globals().setdefault("_shared", _thread.RLock())
""",
        "one build waits",
    ),
    Mutant(
        "leases are not counted",
        "_tenure",
        "            self._leases += 1\n",
        "",
        "lease, reset",
    ),
    Mutant(
        "an instance is leased after it was closed",
        "_tenure",
        """            if self._retired:
                return False
            self._leases""",
        "            self._leases",
        "lease, reset",
    ),
    Mutant(
        "a key is dropped while it is built",
        "_keyed",
        "            if slot.users or slot is newest",
        "            if slot is newest",
        "leases of keys",
    ),
    Mutant(
        "a failed key is kept",
        "_keyed",
        "            del self._table[key]\n        if self._max",
        "            pass\n        if self._max",
        "failing key",
    ),
    Mutant(
        "lock not renewed after fork",
        "_slot",
        "        self._gate = Gate(self._gate.name)\n        self._attempt",
        "        self._attempt",
        "fork",
    ),
)


@contextmanager
def mutated(mutant: Mutant, folder: Path) -> Generator[ModuleType]:
    """Import a mutant as a package of its own, from a folder that is given.

    Raises:
        AssertionError: The passage to be changed is not in the library any more.
    """
    name = f"mutant_{re.sub(r'[^a-z]', '_', mutant.fault)}"
    package = folder / name
    package.mkdir()
    for part in _PARTS:
        source = (_SOURCE / f"{part}.py").read_text(encoding="utf-8")
        if part == mutant.module:
            found = source.count(mutant.old)
            assert found == 1, (
                f"{mutant.fault!r}: {part}.py has its passage {found} times, not once"
            )
            source = source.replace(mutant.old, mutant.new)
        source = source.replace("from plugin_utils", f"from {name}")
        (package / f"{part}.py").write_text(source, encoding="utf-8")
    sys.path.insert(0, str(folder))
    try:
        yield importlib.import_module(name)
    finally:
        sys.path.remove(str(folder))
        for loaded in [loaded for loaded in sys.modules if loaded.split(".")[0] == name]:
            del sys.modules[loaded]
