"""Random sequences of calls: what the program says of each, next to what the model says.

`python -m tests.program.errors.sequences 1000 7` compares 1000 of seed 7.
"""

import random
import sys
from collections.abc import Iterator
from itertools import count

from tests.program.errors.model import FAULTS, MODES, Model
from tests.program.errors.table import BEGIN, Said, said_by

STREAMS, EVENTS = ("a", "b", "n", "0"), ("e", "f")
# How often each is called. S is a stream, D one that can be destroyed, E an event, F a fault, M a mode.
WEIGHTS = {
    "cudaStreamBeginCapture S M": 14,
    "cudaStreamEndCapture S": 8,
    "cudaLaunchKernel add 1,1,1 1,1,1 0 S": 8,
    "cudaLaunchKernel add 0,1,1 1,1,1 0 S": 1,
    "cudaMemsetAsync p 4 S": 3,
    "cudaMemcpyAsync p host 4 1 S": 2,
    "cudaLaunchHostFunc S": 2,
    "cudaStreamAddCallback S 0": 1,
    "cudaEventRecord E S": 12,
    "cudaStreamWaitEvent S E": 12,
    "cudaEventQuery E": 1,
    "cudaEventSynchronize E": 1,
    "cudaEventElapsedTime e f": 1,
    "cudaStreamSynchronize S": 1,
    "cudaStreamQuery S": 1,
    "cudaStreamIsCapturing S": 2,
    "cudaStreamDestroy D": 1,
    "cudaDeviceSynchronize": 1,
    "cudaDeviceReset": 1,
    "cudaThreadExchangeStreamCaptureMode M": 4,
    "cudaMalloc q 4": 1,
    "cudaFree q": 1,
    "cudaMemcpy p host 4 1": 1,
    "cudaMemset p 4": 1,
    "cudaSetDevice 9": 1,
    "cudaGetLastError": 2,
    "cudaPeekAtLastError": 1,
    "fault F": 1,
}
N_CALLS = 30  # of a sequence


def sequence(dice: random.Random) -> Iterator[str]:
    """The lines of one sequence."""
    yield from BEGIN
    for call in dice.choices(list(WEIGHTS), list(WEIGHTS.values()), k=N_CALLS):
        words = {"S": STREAMS, "D": STREAMS[:-1], "E": EVENTS, "F": tuple(FAULTS), "M": MODES}
        filled = " ".join(dice.choice(words[word]) if word in words else word for word in call.split())
        yield f"{dice.choice('1112')} {filled}"


def first_wrong(n: int, seed: int) -> str:
    """The first call of `n` sequences of which the program says something else than the model, with the calls before
    it; "" for none.
    """
    dice = random.Random(seed)
    sequences = [list(sequence(dice)) for _ in range(n)]
    said = iter(said_by(line for lines in sequences for line in lines))
    for lines in sequences:
        model, shown = Model(), []
        for line in lines:
            expected, found = model.call(line), next(said)
            shown.append(f"    {line:50} {_text(found)}")
            if found != expected:
                return "\n".join([f"seed {seed}: {line}: {_text(found)}, the model: {_text(expected)}", *shown])
    return ""


def _text(said: Said | None) -> str:
    return "" if said is None else f"{said.result} {said.last} {said.status}"


def main() -> int:
    n, first = (int(word) for word in sys.argv[1:3])
    for seed in count(first):
        if wrong := first_wrong(n, seed):
            print(wrong)
            return 1
        print(f"seed {seed}: {n} sequences of {N_CALLS} calls agree", flush=True)
        if len(sys.argv) < 4 or seed + 1 >= first + int(sys.argv[3]):
            return 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
