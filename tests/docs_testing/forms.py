"""The forms in which a page can show a block, with what has to become of each.

A block that really ran has left its tag in the log, by `log.ran("tag")` or by `echo tag`.
"""

from typing import Literal, NamedTuple

__all__ = ("CONFIG", "FORMS", "LOG", "SNIPPETS", "Form")


class Form(NamedTuple):
    """A page, the tags that its run leaves, and how its worst item fares."""

    page: str
    ran: set[str]
    outcome: Literal["passed", "failed", "xfailed", "skipped", "nothing"]


CONFIG = """\
site_name: A site of forms
theme: {name: mkdocs}
markdown_extensions:
  - admonition
  - attr_list
  - pymdownx.details
  - pymdownx.highlight
  - pymdownx.tabbed: {alternate_style: true}
  - pymdownx.snippets: {base_path: [.], check_paths: true}
  - pymdownx.superfences:
      custom_fences:
        - name: mermaid
          class: mermaid
          format: !!python/name:pymdownx.superfences.fence_code_format
  - plugin_utils.docs_testing.markdown
"""

LOG = '''\
"""Notes which blocks ran."""

import os
from pathlib import Path


def ran(tag):
    with Path(os.environ["FORMS_LOG"]).open("a") as file:
        file.write(f"{tag}\\n")
'''

SNIPPETS = {
    "part.py": """\
import log
# --8<-- [start:answer]
answer = 42
log.ran("section")
# --8<-- [end:answer]
# --8<-- [start:more]
log.ran("more")
# --8<-- [end:more]
raise SystemExit("this line is outside the section")
""",
    "whole.md": """\
```python
import log

log.ran("page-in-page")
```
""",
}

FORMS: dict[str, Form] = {
    # -- How a fence is written --
    "plain": Form(
        """\
# A bare fence

```python
import log
log.ran("plain")
```
""",
        {"plain"},
        "passed",
    ),
    "options": Form(
        """\
# Title, highlighted lines and line numbers

```python title="client.py" hl_lines="1-2" linenums="7"
import log
log.ran("options")
```
""",
        {"options"},
        "passed",
    ),
    "braces": Form(
        """\
# Attribute lists in braces

``` { .python .annotate }
import log  # (1)!
log.ran("brace-class")
```

1.  A note on the import.

```{.python title="client.py"}
import log
log.ran("brace-title")
```
""",
        {"brace-class", "brace-title"},
        "passed",
    ),
    "short_names": Form(
        """\
# Other names of Python

```py
import log
log.ran("py")
```

```Python
import log
log.ran("capital")
```

```python3
import log
log.ran("python3")
```
""",
        {"py", "capital", "python3"},
        "passed",
    ),
    "tildes": Form(
        """\
# Tildes

~~~python
import log
log.ran("tildes")
~~~
""",
        {"tildes"},
        "passed",
    ),
    "containers": Form(
        """\
# Inside other things

!!! note "A note"

    ```python
    import log
    log.ran("admonition")
    ```

??? tip "Folded"

    ```python
    import log
    log.ran("details")
    ```

    !!! warning

        ```python
        import log
        log.ran("nested")
        ```

=== "Thread"

    ```python
    import log
    log.ran("tab")
    ```

1.  A step:

    ```python
    import log
    if True:
        log.ran("list")
    ```

> ```python
> import log
> log.ran("quote")
> ```
""",
        {"admonition", "details", "nested", "tab", "list", "quote"},
        "passed",
    ),
    "section": Form(
        """\
# Part of a file, under its name

```python title="snippets/part.py"
import log
--8<-- "snippets/part.py:answer"
assert answer == 42
```
""",
        {"section"},
        "passed",
    ),
    "included_fence": Form(
        """\
# A fence that comes whole from a file

--8<-- "snippets/whole.md"
""",
        {"page-in-page"},
        "passed",
    ),
    "indented_code": Form(
        """\
# Not a fence

As text:

    import log
    log.ran("indented")

The check of the built site reports this one.
""",
        set(),
        "nothing",
    ),
    "unclosed": Form(
        """\
# Never closed

```python
import log
log.ran("unclosed")
""",
        set(),
        "failed",
    ),
    "unknown_option": Form(
        """\
# An option that no extension knows

```python shiny="yes"
import log
log.ran("unknown option")
```
""",
        set(),
        "failed",
    ),
    # -- What a language does --
    "pycon": Form(
        """\
# A session

```pycon
>>> import log
>>> log.ran("pycon")
>>> 20 + 1
21
```
""",
        {"pycon"},
        "passed",
    ),
    "pycon_wrong": Form(
        """\
# A session with a wrong answer

```pycon
>>> import log
>>> log.ran("pycon-wrong")
>>> 20 + 1
22
```
""",
        {"pycon-wrong"},
        "failed",
    ),
    "prompts_in_python": Form(
        """\
# A session that calls itself Python, wrong

```python
>>> import log
>>> log.ran("prompts")
>>> 20 + 1
22
```
""",
        {"prompts"},
        "failed",
    ),
    "console": Form(
        """\
# A terminal

```console
$ echo console >> "$FORMS_LOG"
$ echo one two
one two
```
""",
        {"console"},
        "passed",
    ),
    "bash": Form(
        """\
# A script

```bash
echo bash >> "$FORMS_LOG"
```
""",
        {"bash"},
        "passed",
    ),
    "bash_stops": Form(
        """\
# A script whose first line fails

```bash
false
echo bash-stops >> "$FORMS_LOG"
```
""",
        set(),
        "failed",
    ),
    "shells": Form(
        """\
# Two names of the shell, and one shell that is not known

```shell
echo shell >> "$FORMS_LOG"
```

```sh
echo sh >> "$FORMS_LOG"
```

```zsh
echo zsh >> "$FORMS_LOG"
```
""",
        {"shell", "sh"},
        "failed",
    ),
    "data": Form(
        """\
# Data that parses

```json
{"key": [1, 2]}
```

```yaml
key: !ENV [HOME]
```

```yml
- 1
```

```toml
key = 1
```

```ini
[section]
key = 50%
```
""",
        set(),
        "passed",
    ),
    "data_wrong": Form(
        """\
# Data that does not

```yaml
key: [1,
```

```toml
key == 1
```

```json
{"key": 1,}
```

```ini
key = 1
```
""",
        set(),
        "failed",
    ),
    "markdown": Form(
        """\
# A page in a page: shown, not run

````markdown
```python
import log
log.ran("shown")
```
````
""",
        set(),
        "passed",
    ),
    "mermaid": Form(
        """\
# A diagram

```mermaid
sequenceDiagram
  Thread 1->>Slot: get()
```
""",
        set(),
        "passed",
    ),
    "text": Form(
        """\
# Text that nothing tests

```text
plugins/
  demo.py
```
""",
        set(),
        "failed",
    ),
    "main_guard": Form(
        """\
# A program

```python
import log

def main():
    log.ran("main")

if __name__ == "__main__":
    main()
```
""",
        {"main"},
        "passed",
    ),
    "own_module": Form(
        """\
# What needs the block to be a module

```python
from __future__ import annotations

import pickle
from dataclasses import dataclass, field
from typing import ClassVar, get_type_hints

import log

class Client: ...

@dataclass(slots=True)
class Settings:
    client: Client = field(default_factory=Client)
    known: ClassVar[dict[str, Client]] = {}

assert get_type_hints(Settings)["client"] is Client
assert pickle.loads(pickle.dumps(Settings())).client is not None
log.ran("module")
```
""",
        {"module"},
        "passed",
    ),
    "await": Form(
        """\
# A coroutine, awaited

```python
import asyncio
import log

await asyncio.sleep(0)
loop = asyncio.get_running_loop()
--8<-- "snippets/part.py:more"
await asyncio.sleep(0)
assert loop is asyncio.get_running_loop()
log.ran("await")
```
""",
        {"more", "await"},
        "passed",
    ),
    # -- What blocks have to do with each other --
    "output": Form(
        """\
# The output, marked

```python
import log
log.ran("output")
print("ready")
```
<!--pytest-codeblocks:expected-output-->
```text
ready
```
""",
        {"output"},
        "passed",
    ),
    "output_wrong": Form(
        """\
# The output, marked and wrong

```python
import log
log.ran("output-wrong")
print("ready")
```
<!--pytest-codeblocks:expected-output-->
```text
steady
```
""",
        {"output-wrong"},
        "failed",
    ),
    "output_titled": Form(
        """\
# The output, by its title

```bash
echo output-titled >> "$FORMS_LOG"
echo ready
```

```text title="Output"
ready
```
""",
        {"output-titled"},
        "passed",
    ),
    "output_titled_wrong": Form(
        """\
# The output, by its title, and wrong

```python
import log
log.ran("titled-wrong")
print("ready")
```

```text title="Output"
steady
```
""",
        {"titled-wrong"},
        "failed",
    ),
    "output_blanks": Form(
        """\
# The output, with other blanks

```python
import log
log.ran("blanks")
print("one   two")
```
<!--pytest-codeblocks:expected-output-ignore-whitespace-->
```text
one two
```
""",
        {"blanks"},
        "passed",
    ),
    "hidden_set_up": Form(
        """\
# A block that needs one that is hidden

<!--
```python
import log
hidden = 1
```
-->

```python
log.ran("hidden")
assert hidden == 1
```
""",
        set(),
        "failed",
    ),
    "hidden_continued": Form(
        """\
# The same, and says so

<!--
```python
import log
hidden = 1
```
-->

<!--pytest-codeblocks:cont-->
```python
log.ran("continued")
assert hidden == 1
```
""",
        {"continued"},
        "passed",
    ),
    "no_shared_state": Form(
        """\
# A block that takes an earlier one for granted

```python
import log
earlier = 1
```

Then:

```python
log.ran("shared")
assert earlier == 1
```
""",
        set(),
        "failed",
    ),
    # -- What must not pass --
    "race": Form(
        """\
# A race, forced by a barrier

```python
import threading
import log

log.ran("race")

class Lazy:
    instance = None
    built = 0
    both = threading.Barrier(4, timeout=10)

    @classmethod
    def get(cls):
        if cls.instance is None:
            cls.both.wait()
            cls.instance = cls()
            cls.built += 1
        return cls.instance

threads = [threading.Thread(target=Lazy.get) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert Lazy.built == 1, Lazy.built
```
""",
        {"race"},
        "failed",
    ),
    "thread": Form(
        """\
# A thread that fails

```python
import threading
import log

def work():
    log.ran("thread")
    assert 1 + 1 == 3, "lost"

thread = threading.Thread(target=work)
thread.start()
thread.join()
```
""",
        {"thread"},
        "failed",
    ),
    "late_thread": Form(
        """\
# A thread that fails after the last line

```python
import threading
import log

ended = threading.Event()

def work():
    threading.main_thread().join()
    log.ran("late-thread")
    raise RuntimeError("after the end")

threading.Thread(target=work).start()
```
""",
        {"late-thread"},
        "failed",
    ),
    "finaliser": Form(
        """\
# A finaliser that fails

```python
import log

class Client:
    def __del__(self):
        log.ran("finaliser")
        raise RuntimeError("not closed")

Client()
```
""",
        {"finaliser"},
        "failed",
    ),
    "bare_assert": Form(
        """\
# An assertion without words

```python
import log
log.ran("bare")
assert not "bare"
```
""",
        {"bare"},
        "failed",
    ),
    "exit_status": Form(
        """\
# A program that ends itself well

```python
import log
log.ran("exit")
raise SystemExit(0)
```
""",
        {"exit"},
        "passed",
    ),
    "exit_status_wrong": Form(
        """\
# A program that ends itself badly

```python
import log
log.ran("exit-wrong")
raise SystemExit("no key")
```
""",
        {"exit-wrong"},
        "failed",
    ),
    # -- Marks --
    "xfail": Form(
        """\
# An error that is the point

<!--pytest.mark.xfail(raises=ValueError, strict=True)-->
```python
import log
log.ran("xfail")
raise ValueError("as the text says")
```
""",
        {"xfail"},
        "xfailed",
    ),
    "skip_file": Form(
        """\
---
title: A page that is left out
---
<!--pytest-codeblocks:skipfile-->

```python
import log
log.ran("skipped file")
```
""",
        set(),
        "skipped",
    ),
    "mark_then_text": Form(
        """\
# Text between a mark and its block

<!--pytest.mark.xfail(raises=KeyError)-->

Some text.

```python
import log
log.ran("mark-text")
{}["key"]
```
""",
        {"mark-text"},
        "xfailed",
    ),
}
