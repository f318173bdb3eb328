"""Data of ELF and DWARF: LEB128, and tables of strings.

LEB128 are the variable-length numbers of DWARF: seven bits a byte, low first, the top bit set on all but the last. A
string table has zero-terminated names, which are referred to by their offset.
"""


def uleb(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def sleb(value: int) -> bytes:
    out = bytearray()
    while not -0x40 <= value < 0x40:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value & 0x7F)
    return bytes(out)


class Strings:
    def __init__(self):
        self._data = bytearray(b"\0")
        self._offsets = {"": 0}

    def add(self, name: str) -> int:
        """The offset of a name. A NUL character, which would end it early, becomes the two characters \\0."""
        if name not in self._offsets:
            self._offsets[name] = len(self._data)
            self._data += zero_terminated(name)
        return self._offsets[name]

    def bytes(self) -> bytes:
        return bytes(self._data)


def zero_terminated(name: str) -> bytes:
    return name.replace("\0", "\\0").encode("utf-8", "surrogatepass") + b"\0"
