"""Kinds of tasks, parameters, relations and constraints. Recordings hold their numbers: a new one goes to the end."""

from typing import NamedTuple

NONE = 0xFFFFFFFF  # for the number of a task, launch or parameter: there is none

# Of tasks.
TASKS = (
    *("task", "launch", "copy to device", "copy to host", "copy within device", "fill", "wait", "free", "call"),
    *("command buffer", "copy within host", "host function", "page faults", "mapped memory", "prefetch"),
)
TASK, LAUNCH, COPY_IN, COPY_OUT, COPY_WITHIN, FILL, WAIT, FREE, CALL, COMMAND_BUFFER, *_OTHERS = range(len(TASKS))
COPY_HOST, HOST_FUNCTION, PAGE_FAULTS, MAPPED_MEMORY, PREFETCH = _OTHERS
# Of copies within the address space, by commands.COPY_DIRECTIONS: page-locked memory of the host is in it.
COPIES_OF = {"within": COPY_WITHIN, "in": COPY_IN, "out": COPY_OUT, "host": COPY_HOST}

IS_PINNED, IS_NODE = 1, 2  # flags of a device operation

# Of parameters.
PARAMETERS = ("buffer", "number", "text", "structure")

# Of constraints: what makes the second task wait for the first.
CONSTRAINTS = ("stream", "event", "default stream", "host wait", "device launch", "programmatic launch")
STREAM, EVENT, DEFAULT_STREAM, HOST_WAIT, DEVICE_LAUNCH, PROGRAMMATIC = range(len(CONSTRAINTS))


class Kind(NamedTuple):
    """A kind of relation. `follows`: the relation between A and C when A has this one to B, and B to C; "": none."""

    name: str
    inverse: str
    follows: str
    of_bytes: bool  # tied by bytes of a buffer: it may be observed
    text: str


RELATIONS = (
    Kind("contains", "is part of", "contains", False, "the second is a part of the first"),
    Kind("depends on", "is needed by", "depends on", False, "the first cannot begin before the second has ended"),
    Kind("produces for", "consumes from", "is needed by", True, "the second reads what the first wrote last"),
    Kind("reads before", "writes after", "", True, "the first reads what the second then overwrites"),
    Kind("writes before", "overwrites", "", True, "the second writes again what the first wrote last"),
    Kind("produces", "is produced by", "", False, "a task makes a buffer"),
    Kind("consumes", "is consumed by", "", False, "a task uses a buffer"),
    Kind("is sibling of", "is sibling of", "", False, "both are parts of one task"),
)
NAMES = tuple(kind.name for kind in RELATIONS)
NUMBERS = {name: number for number, name in enumerate(NAMES)}
CONTAINS, DEPENDS_ON, PRODUCES_FOR, READS_BEFORE, WRITES_BEFORE, PRODUCES, CONSUMES, SIBLING = NAMES
INVERSES = {kind.inverse: kind.name for kind in RELATIONS}

# The kinds that a relation may be stated as, with the kind that is stored and whether the tasks are swapped.
STATED = {kind.name: (kind.name, False) for kind in RELATIONS if kind.name != SIBLING} | {
    kind.inverse: (kind.name, True) for kind in RELATIONS if kind.name not in (SIBLING, PRODUCES, CONSUMES)
}
OF_BUFFERS = (PRODUCES, CONSUMES)
NEEDS = (PRODUCES_FOR, READS_BEFORE, WRITES_BEFORE)  # and what is stated to depend

# Flags of an access.
WRITES, APPROXIMATE, UNCHANGED, FREES = 1, 2, 4, 8

ORIGINS = ("stated", "observed", "implied")


def pass_name(number: int) -> str:
    """The name of the virtual task of a pass of draws."""
    return f"pass {number}"
