"""The names that an object file asks for."""

import io

from elftools.elf.elffile import ELFFile


def undefined_in(code: bytes) -> list[str]:
    """Names that an ELF object file uses and does not define, sorted."""
    table = ELFFile(io.BytesIO(code)).get_section_by_name(".symtab")
    names = {symbol.name for symbol in table.iter_symbols() if symbol["st_shndx"] == "SHN_UNDEF"}
    return sorted(names - {"", "_GLOBAL_OFFSET_TABLE_"})
