"""A call that fails, and words of 64 bits."""


class Failed(Exception):
    """A call fails with a cudaError; `text` says why to the user."""

    def __init__(self, status: int, text: str = ""):
        super().__init__(text)
        self.status, self.text = status, text


def signed(word: int) -> int:
    return word - (1 << 64) if word >> 63 else word
