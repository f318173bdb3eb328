"""Signals at random moments of runs of the program. GPUPROF_FUZZ=1 (`make fuzz`) sends a hundred of each."""

import os
import random
import sys

import pytest

from tests.fuzz.signals import ASKED, COMMANDS, KINDS, campaign, judge, prepare

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
NUMBERS = range(100) if os.environ.get("GPUPROF_FUZZ") else range(1)


@pytest.fixture(scope="module")
def ground(tmp_path_factory):
    return prepare(tmp_path_factory.mktemp("ground"))


@pytest.mark.long
@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", COMMANDS)
def test_fuzz_all_commands(ground, tmp_path, name, kind, number):
    judge(tmp_path / "place", name, kind, ground, random.Random(f"{name} {kind} {number}"))


@pytest.mark.parametrize("kind", ["SIGTERM", "SIGKILL"])
def test_a_few_of_those_of_long(tmp_path, kind):
    """One for each command that is asked for most."""
    found = []
    assert campaign(len(ASKED), 0, ASKED, [kind], found.append) == 0, found
