"""Signals that end a run: Ctrl-C, `kill`, and a terminal that closes.

The first signal raises `Ended` wherever the program is, so that recorded data is saved and temporary files are removed.
While that happens another one changes nothing. Work that must not be interrupted runs inside `uninterrupted`; an import
is finished first.
"""

import _thread
import ctypes
import os
import signal
import sys
import threading
import time
from types import FrameType

WORDS = {"SIGINT": "interrupted", "SIGTERM": "terminated", "SIGHUP": "the terminal was closed"}
SIGNALS = {getattr(signal, name): word for name, word in WORDS.items() if hasattr(signal, name)}
RETRY_SECONDS = 0.02
MOST_RETRIES = 100  # a script may do its work in an import; that is not waited for
IMPORTER = "<frozen importlib._bootstrap>"


class Ended(KeyboardInterrupt):
    """A signal asks the program to end."""

    def __init__(self, number: int):
        super().__init__(SIGNALS[number])
        self.exit_code = 128 + number


def is_ctrl_c(error: KeyboardInterrupt) -> bool:
    """True when the exception came from Ctrl-C and no other signal."""
    return getattr(error, "exit_code", 128 + signal.SIGINT) == 128 + signal.SIGINT


class Stopped(BaseException):
    """Ends a thread's work when its result is no longer needed."""


class _State:
    """The state of the main thread, the only one in which Python runs handlers."""

    def __init__(self):
        self.n_whole = 0  # blocks of `whole` around what is running
        self.waiting: int | None = None  # the signal that came inside them
        self.n_retries = 0


_state = _State()


def end_at_signals() -> None:
    """From here on the signals raise Ended. One that was to be ignored, as under nohup, still is."""
    for number in SIGNALS:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _on_signal)
    sys.unraisablehook = _on_unraisable


def end_at_once() -> None:
    """From here on the signals end the process, as they do by default: there is nothing left to keep or to remove."""
    for number in SIGNALS:
        if signal.getsignal(number) == _on_signal:
            signal.signal(number, signal.SIG_DFL)


class uninterrupted:
    """A signal that comes while the block runs counts at its end. Outside the main thread no signal comes."""

    def __enter__(self) -> None:
        self._is_main = threading.get_ident() == threading.main_thread().ident
        if self._is_main:
            _state.n_whole += 1

    def __exit__(self, *_) -> None:
        if not self._is_main:
            return
        _state.n_whole -= 1
        if _state.waiting is not None and _state.n_whole == 0:
            number, _state.waiting = _state.waiting, None
            _on_signal(number, None)


def _on_signal(number: int, frame: FrameType | None) -> None:
    if _is_ending(sys.exc_info()[1]):
        return
    if _state.n_whole:
        _state.waiting = number
    elif _is_importing(frame) and _state.n_retries < MOST_RETRIES:
        # C code that imports something may print the exception, or lose it, and leave a module half made.
        _state.n_retries += 1
        _again(number)
    else:
        _state.n_retries = 0
        raise Ended(number)


def _is_ending(error: BaseException | None) -> bool:
    """True while an Ended, or the program's own end, is being handled: `error` or one of the errors that led to it."""
    seen = set()
    while error is not None and id(error) not in seen:
        if isinstance(error, Ended | SystemExit):
            return True
        seen.add(id(error))
        error = error.__context__
    return False


def _is_importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename == IMPORTER:
            return True
        frame = frame.f_back
    return False


def _again(number: int) -> None:
    """Sends the signal once more, soon."""

    def send():
        time.sleep(RETRY_SECONDS)
        os.kill(os.getpid(), number)

    _thread.start_new_thread(send, ())


def stop_thread(ident: int) -> None:
    """Raises Stopped inside a thread, before its next Python instruction. Compiled code that is running ends first."""
    # Python has no other way to stop a thread in its work.
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(ident), ctypes.py_object(Stopped))


def _stop_again(ident: int) -> None:
    """Stops a thread once more, soon. One that has ended by then is not there to be stopped."""

    def stop():
        time.sleep(RETRY_SECONDS)
        stop_thread(ident)

    _thread.start_new_thread(stop, ())


def _on_unraisable(unraisable) -> None:
    """An Ended or a Stopped that was raised where nothing can be, as in `__del__` or a callback of C code, is raised
    again later.
    """
    if isinstance(unraisable.exc_value, Ended):
        _again(unraisable.exc_value.exit_code - 128)
    elif isinstance(unraisable.exc_value, Stopped):
        _stop_again(threading.get_ident())
    else:
        sys.__unraisablehook__(unraisable)
