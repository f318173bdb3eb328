"""What an executable was linked with."""

import struct
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.construct import ConstructError
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile

from gpuprof.errors import UsageError

# What pyelftools raises for files that contradict themselves: OSError for a place before the file's beginning.
DAMAGED = (
    *(ELFError, ConstructError, struct.error, ValueError, LookupError, AttributeError, TypeError, ArithmeticError),
    *(OSError, AssertionError, MemoryError, RecursionError),
)


def linked_libraries(path: Path) -> tuple[list[str], frozenset[str]]:
    """The names of the shared libraries that an executable needs, in its order, and those of its sections. Raises
    UsageError for a damaged one.
    """
    with open(path, "rb") as file:
        try:
            elf = ELFFile(file)
            dynamic = elf.get_section_by_name(".dynamic")
            tags = dynamic.iter_tags("DT_NEEDED") if isinstance(dynamic, DynamicSection) else ()
            needed = [vars(tag)["needed"] for tag in tags]  # pyelftools names the attribute by the tag
            return needed, frozenset(section.name for section in elf.iter_sections())
        except DAMAGED as error:
            raise UsageError(f"{path}: a damaged executable: {error}") from None
