"""The timing model's version: raise it whenever the same program on the same chip may get other numbers.

1.0 the first.
"""

MODEL_VERSION = "1.0"
