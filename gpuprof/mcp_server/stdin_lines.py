"""Standard input as lines that come when they come. A thread reads it, since a read that waits cannot be cancelled; the
process ends without waiting for that thread.
"""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import suppress
from threading import Thread

STDIN = 0
PIECE_NBYTES = 1 << 16


async def stdin_lines() -> AsyncIterator[str]:
    """The lines, with their ends, until stdin is closed."""
    loop, lines = asyncio.get_running_loop(), asyncio.Queue()

    def put(line: bytes | None) -> None:
        with suppress(RuntimeError):  # the loop has ended, and needs no more lines
            loop.call_soon_threadsafe(lines.put_nowait, line)

    Thread(target=_read, args=(put,), name="stdin", daemon=True).start()
    while (line := await lines.get()) is not None:
        yield line.decode("utf-8", "replace")


def _read(put) -> None:
    rest = b""
    with suppress(OSError):  # it was closed before we began
        while data := os.read(STDIN, PIECE_NBYTES):
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                put(line + b"\n")
    put(None)
