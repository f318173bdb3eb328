"""How much of real machine code the uniform datapath does: `python -m tests.ptxas.sass_uniform`.

Of the kernels of `sass_slots`, the share of issue slots that ptxas gives to instructions of the uniform datapath, which
work once a warp on registers of their own, and that of them but loads of the memory descriptor (ULDC.64), of which ours
have one on that unit, too.
"""

from collections import Counter

from tests.ptxas.sass_slots import SOURCES, measure

OTHERS = ("R2UR", "S2UR", "VOTEU")  # beside those whose names begin with U


def is_uniform(op: str) -> bool:
    """By the instruction's name in nvdisasm's listing: "UIADD3", "ULDC.64"."""
    return op.startswith(("U", *OTHERS))


def share(slots: Counter[str], but: tuple[str, ...] = ()) -> float:
    return sum(n for op, n in slots.items() if is_uniform(op) and op not in but) / slots.total()


def main() -> None:
    found = []
    for source in SOURCES:
        for each in measure(source):
            found.append((share(each.theirs), share(each.theirs, ("ULDC.64",))))
            print(
                f"{each.row.source:18} {each.row.kernel:44} {100 * found[-1][0]:5.1f} % {100 * found[-1][1]:5.1f} %",
                flush=True,
            )
    print(
        f"{'mean of ' + str(len(found)):63} {100 * sum(a for a, _ in found) / len(found):5.1f} % "
        f"{100 * sum(b for _, b in found) / len(found):5.1f} %"
    )


if __name__ == "__main__":
    main()
