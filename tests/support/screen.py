"""What a terminal shows of the bytes that it was sent: as much of one as programs that write lines need."""

import re

_SENT = re.compile(r"\x1b\[([\d;?]*)([A-Za-z])|(\r)|(\n)|([^\x1b\r\n])")


class Screen:
    """`rows`, as high as needed. Raises ValueError for an escape sequence that it does not know."""

    def __init__(self, columns: int):
        self.columns = columns
        self.rows = [""]
        self.row = self.column = 0

    def feed(self, sent: str) -> "Screen":
        for arguments, command, back, down, character in (match.groups() for match in _SENT.finditer(sent)):
            if character:
                self._put(character)
            elif back:
                self.column = 0
            elif down:
                self._down()
            elif command == "A":
                self.row = max(0, self.row - int(arguments or 1))
            elif command == "J" and not arguments:
                self.rows = self.rows[: self.row + 1]
                self.rows[self.row] = self.rows[self.row][: self.column]
            elif command != "m":
                raise ValueError(f"escape sequence {arguments}{command}")
        return self

    def text(self) -> list[str]:
        """The rows without blanks at their ends, and without empty rows at the end."""
        rows = [row.rstrip() for row in self.rows]
        while rows and not rows[-1]:
            rows.pop()
        return rows

    def _put(self, character: str) -> None:
        if self.column == self.columns:
            self._down()
            self.column = 0
        row = self.rows[self.row].ljust(self.column)
        self.rows[self.row] = row[: self.column] + character + row[self.column + 1 :]
        self.column += 1

    def _down(self) -> None:
        self.row += 1
        if self.row == len(self.rows):
            self.rows.append("")
