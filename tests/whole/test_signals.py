"""Signals at random moments of runs of the program. GPUPROF_FUZZ=1 (`make fuzz`) sends a hundred of each of three."""

import os
import random
import sys

import pytest

from tests.fuzz.signals import ASKED, COMMANDS, KINDS, campaign, judge, prepare

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
HUNDRED = ("SIGINT", "SIGTERM", "SIGKILL")


def times(name: str, kind: str) -> int:
    if not os.environ.get("GPUPROF_FUZZ"):
        return 1
    return 34 if name in ASKED and kind in HUNDRED else 5


CASES = [(name, kind, number) for name in COMMANDS for kind in KINDS for number in range(times(name, kind))]


@pytest.fixture(scope="module")
def ground(tmp_path_factory):
    return prepare(tmp_path_factory.mktemp("ground"))


@pytest.mark.long
@pytest.mark.parametrize("name, kind, number", CASES)
def test_fuzz_all_commands(ground, tmp_path, name, kind, number):
    judge(tmp_path / "place", name, kind, ground, random.Random(f"{name} {kind} {number}"))


@pytest.mark.long
def test_a_few_of_those_of_long():
    """Each command that is asked for most gets two."""
    found = []
    assert campaign(len(ASKED), 0, ASKED, ["SIGTERM", "SIGKILL"], found.append) == 0, found
