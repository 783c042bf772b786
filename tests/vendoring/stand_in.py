"""Runs the primitives' suite with the one-file copy in the place of the package.

The stand-in is a folder `plugin_utils` whose `__init__.py` is the copy. Tests that look into a
module of the primitives find the copy under that name as well: there is only one. The rest of the
package is the project's own, and imports the stand-in as everybody does.
"""

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from plugin_utils import vendoring

__all__ = ("main", "make")

ROOT = Path(__file__).parents[2]
# The one module has the private names of all of them: what it shows is no promise of the copy.
_NOT_OF_THE_COPY = "tests/primitives/test_accessor.py::test_exported_names_are_the_documented_ones"
_SAME_MODULE = """

import sys

for _name in {modules!r}:
    sys.modules[f"plugin_utils.{{_name}}"] = sys.modules[__name__]
"""


def make(folder: Path) -> None:
    """Make the stand-in in the folder, for a path that comes before the project's own."""
    package = folder / "plugin_utils"
    shutil.copytree(ROOT / "plugin_utils", package, ignore=shutil.ignore_patterns("__pycache__"))
    for name in vendoring.MODULES:
        (package / f"{name}.py").unlink()
    same_module = _SAME_MODULE.format(modules=vendoring.MODULES)
    (package / "__init__.py").write_text(vendoring.render() + same_module, encoding="utf-8")


def main(arguments: Sequence[str]) -> int:
    """Run the suite, and return pytest's exit status."""
    with tempfile.TemporaryDirectory() as folder:
        make(Path(folder))
        command = [
            *(sys.executable, "-m", "pytest", "-o", f"pythonpath={folder} ."),
            *("--deselect", _NOT_OF_THE_COPY, "tests/primitives", *arguments),
        ]
        return subprocess.run(command, cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
