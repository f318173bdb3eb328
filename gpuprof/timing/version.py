"""The timing model's version: raise it whenever the same program on the same chip may get other numbers.

1.0 the first.
1.1 A value packed from two loads waits for both. Integer multiplies take half of an FMA pipe that is 32 lanes wide (h200).
    Volatile, relaxed and acquire loads beyond a block pass the L1 by.
"""

MODEL_VERSION = "1.1"
