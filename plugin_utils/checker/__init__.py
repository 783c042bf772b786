"""Finds lazily built shared objects that two threads, or two tasks, can build twice.

The checker reads source and never imports it. It needs nothing but the standard library. Use it
as `plugin-utils check PATH...`; from code, `check_source` judges one module's text:

>>> findings = check_source('''
... _client = None
... def client():
...     global _client
...     if _client is None:
...         _client = Client()
...     return _client
... ''')
>>> [(finding.code, finding.line, finding.level.label) for finding in findings]
[('LS001', 6, 'high')]
"""

from plugin_utils.checker.check import check_source
from plugin_utils.checker.fix import fix_source
from plugin_utils.checker.model import Finding, Level
from plugin_utils.checker.rules import RULES

__all__ = ("RULES", "Finding", "Level", "check_source", "fix_source")
