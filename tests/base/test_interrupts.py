"""Signals that end a run: what they raise, what they wait for, and that a second one changes nothing."""

import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest

from tests.paths import ROOT

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs signals")

BEGIN = """\
import gc, os, signal, sys, time
from gpuprof.base.interrupts import Ended, end_at_once, end_at_signals, uninterrupted
def send(name):
    os.kill(os.getpid(), getattr(signal, name))
    for _ in range(3):
        time.sleep(0.01)
def say(*words):
    print(*words, flush=True)
end_at_signals()
"""


def runs(script: str, folder=None) -> tuple[int, str, str]:
    """Exit code, stdout and stderr."""
    done = subprocess.run(
        [sys.executable, "-c", BEGIN + textwrap.dedent(script)], env=os.environ | {"PYTHONPATH": str(ROOT)}, cwd=folder,
        capture_output=True, text=True, timeout=60,
        preexec_fn=lambda: [signal.signal(each, signal.SIG_DFL) for each in (signal.SIGINT, signal.SIGHUP)],
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    "name, word, code", [("SIGINT", "interrupted", 130), ("SIGTERM", "terminated", 143), ("SIGHUP", "closed", 129)]
)
def test_each_is_a_keyboard_interrupt_with_its_word_and_exit_code(name, word, code):
    script = f"""
        try:
            send({name!r})
        except KeyboardInterrupt as error:
            say(type(error).__name__, error, error.exit_code)
    """
    _, out, error = runs(script)
    assert (out.split()[0], out.split()[-1], error) == ("Ended", str(code), "") and word in out


def test_one_that_is_to_be_ignored_is():
    script = """
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        end_at_signals()
        send("SIGHUP")
        say("goes on")
    """
    assert runs(script) == (0, "goes on\n", "")


def test_a_second_one_changes_nothing_while_the_first_is_dealt_with():
    """In `finally`, in `except`, in what these call and raise; once it is dealt with, the next one counts again."""
    script = """
        def clean():
            try:
                raise ValueError
            except ValueError:
                send("SIGTERM")
            send("SIGINT")
            say("cleaned")
        try:
            try:
                send("SIGINT")
            finally:
                clean()
        except Ended as error:
            clean()
            say(error)
        try:
            send("SIGTERM")
        except Ended as error:
            say(error)
    """
    assert runs(script) == (0, "cleaned\ncleaned\ninterrupted\nterminated\n", "")


def test_what_must_be_whole_is_finished_first():
    script = """
        try:
            with uninterrupted():
                with uninterrupted():
                    send("SIGTERM")
                say("whole")
            say("not here")
        except Ended as error:
            say(error)
        with uninterrupted():
            say("and again")
    """
    assert runs(script) == (0, "whole\nterminated\nand again\n", "")


def test_an_import_is_finished_first_unless_it_takes_long(tmp_path):
    (tmp_path / "short.py").write_text("import __main__\n__main__.send('SIGINT')\nDONE = True\n")
    (tmp_path / "long.py").write_text("import __main__, time\n__main__.send('SIGINT')\nwhile True: time.sleep(0.01)\n")
    script = """
        sys.path.insert(0, "")
        try:
            import short
            while True:
                time.sleep(0.01)
        except Ended as error:
            say(error, short.DONE)
        try:
            import long
        except Ended as error:
            say(error, "long" in sys.modules)
    """
    assert runs(script, tmp_path) == (0, "interrupted True\ninterrupted False\n", "")


def test_one_where_nothing_can_be_raised_is_raised_later():
    """Python would print a traceback and go on."""
    script = """
        class Thing:
            def __del__(self):
                send("SIGINT")
        try:
            Thing()
            while True:
                time.sleep(0.01)
        except Ended as error:
            say(error)
    """
    assert runs(script) == (0, "interrupted\n", "")


def test_one_at_the_programs_own_end_changes_nothing():
    script = """
        try:
            sys.exit(3)
        finally:
            send("SIGINT")
            say("here")
    """
    assert runs(script) == (3, "here\n", "")


def test_at_the_end_they_end_the_process_at_once():
    script = """
        end_at_once()
        send("SIGTERM")
        say("not here")
    """
    assert runs(script) == (-signal.SIGTERM, "", "")


@pytest.mark.skipif(sys.platform != "linux", reason="other systems leave children alone")
def test_a_child_does_not_outlive_its_parent():
    script = """
        import subprocess
        from gpuprof.base.processes import ending_with_this
        child = subprocess.Popen(["sleep", "100"], preexec_fn=ending_with_this())
        say(child.pid)
        os.kill(os.getpid(), signal.SIGKILL)
    """
    code, out, _ = runs(script)
    assert code == -signal.SIGKILL
    end = time.monotonic() + 10
    while os.path.exists(f"/proc/{int(out)}/exe"):
        assert time.monotonic() < end
        time.sleep(0.01)


def test_the_word_of_a_signal_is_the_only_line():
    """Click prints an empty line where it meets a KeyboardInterrupt."""
    script = """
        sys.argv = ["gpuprof", "list", "stalls"]
        import click, gpuprof.cli.list, gpuprof.__main__ as program
        gpuprof.cli.list.command.callback = lambda **_: send("SIGINT")
        program.main()
    """
    assert runs(script) == (130, "", "gpuprof: interrupted\n")
