"""The first thing in a child process of `tests.support.child`: tells it is up, runs the program."""

import os
import sys
from pathlib import Path

_, _program, _ready = sys.argv
sys.argv = [_program]
__file__ = _program
os.write(int(_ready), b".")
os.close(int(_ready))
# In this module's own namespace: the program then is `__main__`, and ends as a script does.
exec(compile(Path(_program).read_text("utf-8"), _program, "exec"))  # noqa: S102 - what it is for
