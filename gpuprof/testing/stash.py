"""Values that the plugin and `session` share: pytest stores them with its configuration and its tests."""

import pytest

NAME = "gpuprof"  # of the fixture, the mark and the values of reports


class State:
    """A session: what reports brought, and what the plugin found out before tests ran."""

    def __init__(self) -> None:
        self.rows: list[tuple[str, list]] = []  # (test, a Row as a list)
        self.baselines: dict[str, str] = {}  # path in rootdir -> text to write
        self.written: list[str] = []
        self.not_written: list[str] = []  # sentences
        self.against: dict[str, str] | None = None  # values of an against.Worktree
        self.same_baseline: dict[str, str] = {}  # test -> the sentence on the other test that has its baseline


STATE = pytest.StashKey[State]()
TEST = pytest.StashKey()  # a session.Test
