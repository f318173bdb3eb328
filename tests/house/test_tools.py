"""A test that lacks a tool skips, unless the target that installs the tool was made: then it fails."""

import pytest

from tests.paths import ROOT
from tests.support import tools


@pytest.mark.parametrize("required, outcome", [("chromium mesa", pytest.fail.Exception), ("", pytest.skip.Exception)])
@pytest.mark.parametrize(
    "use",
    [
        lambda: tools.module("no_such_module_at_all", "mesa"),
        lambda: tools.program("no-such-program", "nor-this", target="chromium"),
        lambda: tools.lacking("a thing", "mesa", "is of another version"),
    ],
)
def test_what_is_lacking(monkeypatch, use, required, outcome):
    monkeypatch.setattr(tools, "REQUIRED", frozenset(required.split()))
    with pytest.raises(outcome, match=r"no_such_module_at_all|no-such-program|a thing is of another version"):
        use()


def test_a_tool_that_no_target_installs_is_never_required(monkeypatch):
    monkeypatch.setattr(tools, "REQUIRED", frozenset({"mesa"}))
    with pytest.raises(pytest.skip.Exception, match=r"^no-such-program is not installed$"):
        tools.program("no-such-program")


def test_ci_installs_and_requires_every_target():
    makefile, ci = ((ROOT / name).read_text() for name in ("Makefile", ".ci/run"))
    (loop,) = [line for line in ci.splitlines() if line.startswith("for target in ")]
    assert loop == "for target in interop tools-python tools-npm chromium; do"
    for target in (*loop.removesuffix("; do").split()[3:], "mesa", "draw-test"):
        assert f"\n{target}:" in makefile, target
