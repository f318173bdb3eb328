"""String tables, as ELF and DWARF have them: zero-terminated names, referred to by their offset."""


class Strings:
    def __init__(self):
        self._data = bytearray(b"\0")
        self._offsets = {"": 0}

    def add(self, name: str) -> int:
        """The offset of a name. A NUL character, which would end it early, is kept as the two characters \\0."""
        if name not in self._offsets:
            self._offsets[name] = len(self._data)
            self._data += zero_terminated(name)
        return self._offsets[name]

    def bytes(self) -> bytes:
        return bytes(self._data)


def zero_terminated(name: str) -> bytes:
    return name.replace("\0", "\\0").encode("utf-8", "surrogatepass") + b"\0"
