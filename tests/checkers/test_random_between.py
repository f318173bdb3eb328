"""Random commands of five streams beside a brute force over all pairs of them: the same commands race, from the same
byte on, though what a later command stands for is forgotten.
"""

import random

import numpy as np

from gpuprof.relate.happens_before import StreamOrder, is_before
from gpuprof.run.hazards.launch_pairs import Between, Did
from gpuprof.trace.checkers.races.touched_lines import WRITES, run_of_bytes

SEEDS, STEPS, STREAMS, EVENTS, NBYTES = 25, 30, 5, 3, 60


def touch(rng: random.Random) -> dict[int, int]:
    """By byte, what is done there: three ranges are read or written."""
    cuts = sorted(rng.sample(range(NBYTES), 6))
    does = [WRITES if rng.random() < 0.4 else 0 for _ in range(3)]
    return {byte: does[k] for k in range(3) for byte in range(cuts[2 * k], cuts[2 * k + 1])}


def wait(rng: random.Random, order: StreamOrder, between: Between) -> None:
    act = rng.choice(("record", "record", "wait", "wait", "stream", "event", "all"))
    event, stream = rng.randrange(EVENTS), rng.randrange(STREAMS)
    if act in ("record", "wait"):
        getattr(order, act)(event, stream)
        return
    if act == "all":
        order.host_waits_for_all()
    elif act == "event":
        order.host_waits_for_event(event)
    else:
        order.host_waits_for_stream(stream)
    between.forget(order.is_known_to_host)


def test_as_all_pairs():
    n_racy = n_clean = 0
    for seed in range(SEEDS):
        rng, order, between, done = random.Random(seed), StreamOrder(), Between(), []
        order.make_non_blocking(3)
        for step in range(STEPS):
            if rng.random() < 0.5:
                wait(rng, order, between)
                continue
            node, mine = order.ask(rng.randrange(STREAMS)), touch(rng)
            runs = np.concatenate([run_of_bytes(byte, 1, does) for byte, does in mine.items()])
            racy = [
                byte
                for other, its in done
                if not is_before(other, node)
                for byte in its.keys() & mine.keys()
                if its[byte] | mine[byte]
            ]
            found = [conflict.address for conflict in between.add(Did("", None, node), runs)]
            assert min(found, default=-1) == min(racy, default=-1), (seed, step)
            done.append((node, mine))
            n_racy, n_clean = n_racy + bool(racy), n_clean + (not racy)
    assert min(n_racy, n_clean) > 50
