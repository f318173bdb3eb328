"""What a comparison of an array with its expected values found: one value, told alike by every room."""

from typing import NamedTuple


class Result(NamedTuple):
    """One comparison. Numbers of an array's type are texts, as numpy writes them, also infinite ones."""

    launch: int  # index of the launch after which the array was read
    name: str  # of the array, as the user wrote it: "y", "saxpy#2.y"
    expected: str  # "ref.npy" without its folders, "zeros", "3.0"
    elements: int  # compared
    differ: int  # of these
    rtol: str  # relative tolerance
    atol: str  # absolute tolerance
    first: str = ""  # index of the first element that differs: "[3, 7]"; as the next four "" where none does
    got: str = ""  # its value
    wanted: str = ""  # the value it should have
    absolute_error: str = ""  # the largest of the elements that differ
    relative_error: str = ""  # the largest of the elements that differ

    @property
    def is_wrong(self) -> bool:
        return self.differ != 0

    def __str__(self) -> str:
        tolerance = f"rtol {self.rtol}, atol {self.atol}"
        if not self.is_wrong:
            return f"{self.name} == {self.expected}: all {self.elements:,} elements as expected ({tolerance})"
        return (
            f"{self.name} == {self.expected}: {self.differ:,} of {self.elements:,} elements differ, first "
            f"{self.first}: got {self.got}, expected {self.wanted}; largest error {self.absolute_error} absolute, "
            f"{self.relative_error} relative ({tolerance})"
        )
