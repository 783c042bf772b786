"""Loads the configuration files that pages show, by the code that reads them for real.

Named in pytest's option `docs_loaders`. Each runs in the process of its block.
"""

import logging
import os
import subprocess
from pathlib import Path

import yaml

from plugin_utils.honcho import HonchoClientConfig
from plugin_utils.honcho._files import read_hermes_section

__all__ = ("config_yaml", "honcho_json", "plugin_yaml", "races_yml", "schedule_txt")

# What Hermes Agent 0.19.0 reads of a plugin's manifest.
_MANIFEST = {
    "name",
    "version",
    "description",
    "author",
    "kind",
    "requires_env",
    "provides_tools",
    "provides_hooks",
}

_RACY = """\
_client = None


def client():
    global _client
    if _client is None:
        _client = Client()
    return _client
"""


class _Strict(logging.Handler):
    """Makes an error of every warning: a page shows nothing that is ignored."""

    def emit(self, record: logging.LogRecord) -> None:
        raise ValueError(record.getMessage())


def honcho_json(path: Path) -> None:
    """Load a Honcho file for each of its hosts."""
    _be_strict()
    config = HonchoClientConfig.from_global_config(config_path=path)
    assert config.raw, "the file is empty"
    for host in config.raw.get("hosts", {}):
        HonchoClientConfig.from_global_config(host=host, config_path=path)


def config_yaml(path: Path) -> None:
    """Load the Honcho settings of a Hermes configuration."""
    _be_strict()
    os.environ["HERMES_HOME"] = str(path.parent)
    read_hermes_section()
    HonchoClientConfig.from_env()


def plugin_yaml(path: Path) -> None:
    """Check a plugin's manifest: nothing is unknown, and the kind is said."""
    manifest = yaml.safe_load(path.read_text("utf-8"))
    unknown = set(manifest) - _MANIFEST
    assert not unknown, unknown
    assert {"name", "kind"} <= set(manifest)


def schedule_txt(path: Path) -> None:
    """Check that a listing is one of those that the explorer has found."""
    root = Path(__file__).parents[2]
    files = [path, *root.glob("snippets/racy/schedules/*.txt")]
    shown, *found = [file.read_text("utf-8").rstrip() for file in files]
    assert shown in found, "no schedule of a racy snippet; see make schedules"


def races_yml(path: Path) -> None:
    """Run the steps of a workflow in a checkout, where only the plugin's own race may be found.

    What needs the network is not run: the actions, and the installing by an address.
    """
    steps = yaml.safe_load(path.read_text("utf-8"))["jobs"]["races"]["steps"]
    assert steps[0]["uses"].startswith("actions/checkout@"), "the sources are not there"
    commands = [step["run"] for step in steps if "run" in step]
    install, *checks = commands
    assert install.startswith("pip install git+https://"), "a path would have to be fetched before"
    for name in ("my_plugin/client.py", "another_project/client.py"):
        Path(name).parent.mkdir()
        Path(name).write_text(_RACY, "utf-8")
    done = subprocess.run(
        ["/bin/sh", "-e", "-c", "\n".join(checks)],
        capture_output=True,
        text=True,
        timeout=15,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    (found,) = done.stdout.splitlines()
    assert found.startswith("::error file=my_plugin/client.py,line=7,")


def _be_strict() -> None:
    logging.getLogger("plugin_utils").addHandler(_Strict(logging.WARNING))
