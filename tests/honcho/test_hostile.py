"""Whatever stands in the settings: no crash, and no key in anything that is said."""

import os
from pathlib import Path
from tempfile import TemporaryDirectory

import hypothesis
import pytest

from plugin_utils.honcho import HonchoClientConfig, get_honcho_client, reset_honcho_client
from tests.support.hostile import MARKER, Settings, settings
from tests.support.leaks import Said, listen


def apply(case: Settings, home: Path, patch: pytest.MonkeyPatch) -> None:
    """Put the case's files into a home folder and its variables into the environment."""
    folder = home / ".hermes"
    folder.mkdir()
    for name, content in (("honcho.json", case.honcho_json), ("config.yaml", case.config_yaml)):
        if content is not None:
            (folder / name).write_bytes(content)
    patch.setenv("HOME", str(home))
    for name, value in case.environment.items():
        patch.setenv(name, value)


def use(said: Said) -> None:
    """Do what a plugin does, and note down what comes out."""
    for make in (HonchoClientConfig.from_global_config, HonchoClientConfig.from_env):
        try:
            config = make()
        except ValueError as error:
            if "HONCHO_ENVIRONMENT" not in str(error):
                raise
            said.add(error)
        else:
            said.add(config)
            build(config, said)


def build(config: HonchoClientConfig, said: Said) -> None:
    """Build a client, ask for another one, and drop it."""
    other = HonchoClientConfig(host=config.host, api_key=f"{MARKER}-other")
    try:
        get_honcho_client(config)
    except ValueError as error:
        if repr(config.host) not in str(error):
            raise
        said.add(error)
    else:
        get_honcho_client(other)
    reset_honcho_client()


# `make hostile` asks for more.
CASES = int(os.environ.get("HOSTILE_CASES", "200"))


@hypothesis.settings(
    max_examples=CASES,
    derandomize=True,  # a failure is the same for everybody
    database=None,
    deadline=None,
)
@hypothesis.given(case=settings)
def test_no_settings_crash_or_leak(case: Settings) -> None:
    """The only errors are those that tell the user what to set, and no text holds a key."""
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch, listen() as said:
        apply(case, Path(folder), patch)
        use(said)
    assert MARKER not in said.text()


@pytest.mark.parametrize("wanted", ["with a key", "without", "refused", "set aside"])
def test_the_generator_reaches_every_outcome(wanted: str) -> None:
    """Configs with and without a key, refused environments, and keys that were set aside."""
    case = hypothesis.find(settings, lambda case: outcome(case) == wanted, settings=SEARCH)
    assert outcome(case) == wanted


SEARCH = hypothesis.settings(
    max_examples=2_000,
    derandomize=True,
    database=None,
    deadline=None,
    phases=[hypothesis.Phase.generate],
)


def outcome(case: Settings) -> str:
    """Return what a case leads to."""
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        apply(case, Path(folder), patch)
        try:
            config = HonchoClientConfig.from_global_config()
        except ValueError:
            return "refused"
        if config.api_key is None and MARKER in os.environ.get("HONCHO_API_KEY", ""):
            return "set aside"
        return "with a key" if config.api_key else "without"
