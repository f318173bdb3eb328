"""CUDA's numbers for our errors: cudaError (CUDA Runtime API, enum cudaError)."""

from gpuprof.errors import CompileError, DeviceMemoryError, GpuprofError, KernelFault, PtxError, UsageError

INVALID_VALUE = 1
MEMORY_ALLOCATION = 2
INVALID_CONFIGURATION = 9
INVALID_SYMBOL = 13
INVALID_DEVICE_FUNCTION = 98
INVALID_RESOURCE_HANDLE = 400
NO_KERNEL_IMAGE = 209
COOPERATIVE_LAUNCH_TOO_LARGE = 720
NOT_SUPPORTED = 801
UNKNOWN = 999

# The first class that an error belongs to gives its number.
NUMBERS: tuple[tuple[type[GpuprofError], int], ...] = (
    (DeviceMemoryError, INVALID_VALUE),
    (CompileError, NO_KERNEL_IMAGE),
    (PtxError, 218),
    (UsageError, INVALID_VALUE),
)
# The error of a lost context, by the kind of the fault.
FAULTS = {"address": 700, "alignment": 716, "assertion": 710, "timeout": 702, "launch": 719}


class Failed(Exception):
    """A call fails with a cudaError; `text` says why to the user."""

    def __init__(self, status: int, text: str = ""):
        super().__init__(text)
        self.status, self.text = status, text


def number_of(error: GpuprofError) -> int:
    """The cudaError of one of our errors."""
    if isinstance(error, KernelFault):
        return FAULTS[error.kind]
    return next((number for kind, number in NUMBERS if isinstance(error, kind)), UNKNOWN)
