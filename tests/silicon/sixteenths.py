"""A sixteenth of the cases, for daily work."""

from collections.abc import Sequence

from tests.silicon.case import Case

SIXTEENTHS = 16


def sixteenth(cases: Sequence[Case], which: int) -> frozenset[str]:
    """Ids of the cases of a sixteenth, 1 to 16: of each family, in the order of its cards, each sixteenth case, and at
    least one. All sixteenths together have every case; those of a small family are in several.
    """
    families: dict[str, list[Case]] = {}
    for case in sorted(cases, key=lambda case: (case.card, case.id)):
        families.setdefault(case.family, []).append(case)
    return frozenset(
        members[place % len(members)].id
        for members in families.values()
        for place in range(which - 1, max(which, len(members)), SIXTEENTHS)
    )
