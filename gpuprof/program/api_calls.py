"""The program's calls as tasks: each has what it asks of the GPU as its parts, its place, and its time."""

from collections.abc import Callable

from gpuprof.device import commands as cmd
from gpuprof.device.tasks import Submit
from gpuprof.program.channel import Origin, Reply
from gpuprof.program.line_table import Places
from gpuprof.program.tasks import ProgramTasks


class Calls:
    """One is open at a time. What other threads call meanwhile, while a host function of a graph runs, is a part of
    it.
    """

    def __init__(self, submit: Submit, places: Places, tasks: ProgramTasks):
        self._submit, self._places, self._tasks = submit, places, tasks
        self._waited_ns = self._nbytes = 0  # of the one that is open
        self._n_open = 0

    @property
    def is_open(self) -> bool:
        return self._n_open > 0

    def one(self, origin: Origin, carry_out: Callable[[], Reply]) -> Reply:
        """A call of one message."""
        self.begin(origin)
        reply = Reply()
        try:
            reply = carry_out()
        finally:
            self.end(origin.host_ns + reply.host_ns, reply.status)
        return reply

    def begin(self, origin: Origin) -> None:
        self._n_open += 1
        if self._n_open > 1:
            return
        self._waited_ns = self._nbytes = 0
        position = self._places.line(origin.caller)
        is_listed = self._tasks.wants_calls(origin.thread)
        identifier = self._tasks.new() if is_listed else cmd.NO_TASK
        name = self._places.function(origin.function) or "call"
        self._submit(cmd.CallBegin(name, position.file, position.line, origin.thread, origin.host_ns, identifier))
        if is_listed:
            self._tasks.call(identifier, origin.thread)

    def note(self, waited_ns: int, nbytes: int) -> None:
        """A message of the open call has waited, and copied or filled."""
        self._waited_ns += waited_ns
        self._nbytes += nbytes

    def end(self, end_ns: int, status: int) -> None:
        self._n_open -= 1
        if self._n_open:
            return
        self._submit(cmd.CallEnd(end_ns, self._waited_ns, self._nbytes, status))
