"""The output of a process, with a bound: its beginning and its end are stored, and what is between them is counted."""


class Shortened:
    """At most `most_nbytes` of what is added: the first half of them, and the last."""

    def __init__(self, most_nbytes: int):
        self._half_nbytes = most_nbytes // 2
        self._head, self._tail = bytearray(), bytearray()
        self._n_added = 0

    def add(self, data: bytes) -> None:
        self._n_added += len(data)
        n_head = self._half_nbytes - len(self._head)
        self._head += data[:n_head]
        self._tail += data[n_head:]
        del self._tail[: max(0, len(self._tail) - self._half_nbytes)]

    @property
    def n_omitted(self) -> int:
        """Bytes between the two parts."""
        return self._n_added - len(self._head) - len(self._tail)

    def text(self) -> str:
        """The output as UTF-8. Where a part is left out, whole lines stay, and a line says how much is not there."""
        if not self.n_omitted:
            return (self._head + self._tail).decode("utf-8", "replace")
        head = self._head[: self._head.rfind(b"\n") + 1] or self._head
        tail = self._tail[self._tail.find(b"\n") + 1 :] or self._tail
        n_omitted = self._n_added - len(head) - len(tail)
        break_ = "" if head.endswith(b"\n") else "\n"
        mark = f"{break_}[... {n_omitted:,} bytes left out ...]\n"
        return head.decode("utf-8", "replace") + mark + tail.decode("utf-8", "replace")
