"""Device code as nvcc puts it into an executable: a fatbin, of which we take the PTX.

NVIDIA documents no format. What is here is what `cuobjdump` shows of nvcc's files (12 and 13):

    fatbin   u32 0xBA55ED50  u16 version  u16 nbytes of the head   u64 nbytes of the entries
    entry    u16 kind (1: PTX, 2: machine code)  u16 version  u32 nbytes of the head  u64 nbytes of what follows
             u32 nbytes if compressed   u32 ..   u16 minor, u16 major of the PTX   u32 architecture   u64 ..
             u64 flags (0x2000: LZ4, 0x8000: Zstandard)   u64 ..   u64 nbytes when decompressed
"""

import struct
import sys
from collections.abc import Iterator
from typing import NamedTuple

from gpuprof.errors import UsageError
from gpuprof.program.fatbin import lz4

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

MAGIC = b"\x50\xed\x55\xba"
HEAD = struct.Struct("<4sHHQ")
ENTRY = struct.Struct("<HHIQII2HIQQQQ")
PTX_KIND = 1
LZ4_FLAG, ZSTD_FLAG = 0x2000, 0x8000
MOST_NBYTES = 256 << 20  # of decompressed PTX; a hostile entry must not fill the memory
MOST_WINDOW_LOG = 27  # of a frame, which the decompressor allocates: 128 MiB, the library's own limit


class Entry(NamedTuple):
    kind: int
    arch: int  # such as 80
    flags: int
    nbytes: int  # decompressed; only of compressed entries
    data: bytes


def ptx_of(fatbin: bytes, arch: int) -> str:
    """The PTX for the newest architecture up to `arch`. Raises UsageError where there is none."""
    with_ptx = [entry for entry in entries(fatbin) if entry.kind == PTX_KIND]
    fitting = [entry for entry in with_ptx if entry.arch <= arch]
    if not fitting:
        has = f"only PTX for sm_{min(entry.arch for entry in with_ptx)} and later" if with_ptx else "only machine code"
        raise UsageError(
            f"the executable has {has}; sm_{arch} needs PTX: build with nvcc -gencode arch=compute_{arch},"
            f"code=compute_{arch}"
        )
    return _text(max(fitting, key=lambda entry: entry.arch))


def entries(fatbin: bytes) -> Iterator[Entry]:
    """The entries of a fatbin. Raises UsageError for a damaged one."""
    try:
        magic, _, head_nbytes, nbytes = HEAD.unpack_from(fatbin)
        at, end = head_nbytes, head_nbytes + nbytes
        if magic != MAGIC or end > len(fatbin):
            raise struct.error
        while at < end:
            kind, _, entry_head, follows, packed, _, _, _, arch, _, flags, _, unpacked = ENTRY.unpack_from(fatbin, at)
            begin = at + entry_head
            stored = packed if flags & (LZ4_FLAG | ZSTD_FLAG) else follows
            if entry_head < ENTRY.size or stored > follows:
                raise struct.error
            yield Entry(kind, arch, flags, unpacked, fatbin[begin : begin + stored])
            at = begin + follows
    except struct.error:
        raise UsageError("the executable's device code is no fatbin that gpuprof can read") from None


def _text(entry: Entry) -> str:
    if entry.flags & ZSTD_FLAG:
        data = _zstandard(entry.data)
    elif entry.flags & LZ4_FLAG:
        data = lz4.decompress(entry.data, entry.nbytes)
    else:
        data = entry.data
    return data.rstrip(b"\0").decode("utf-8", "replace")


def _zstandard(data: bytes) -> bytes:
    """The content of a frame. Raises UsageError for a damaged one, and for one that is too large."""
    decompressor = zstd.ZstdDecompressor(options={zstd.DecompressionParameter.window_log_max: MOST_WINDOW_LOG})
    try:
        content = decompressor.decompress(data, max_length=MOST_NBYTES + 1)
    except zstd.ZstdError as error:
        raise UsageError(f"Zstandard data are damaged: {error}") from None
    if len(content) > MOST_NBYTES:
        raise UsageError(f"Zstandard data hold more than {MOST_NBYTES} bytes")
    if not decompressor.eof:
        raise UsageError("Zstandard data are damaged: they end early")
    return content
