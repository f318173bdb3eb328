"""Why rows are far off: outside 0.6 to 1.6 of what is published. The first pattern that an id has gives the reason."""

from fnmatch import fnmatch

from tests.silicon.case import Case

REASONS: tuple[tuple[str, str], ...] = ()


def reason(case: Case) -> str:
    """The reason of a case; "" where none is named."""
    return next((text for pattern, text in REASONS if fnmatch(case.id, pattern)), "")
