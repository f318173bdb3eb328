"""What CUDA calls an error of ours: numbers of cudaError (CUDA Runtime API, enum cudaError)."""

from gpuprof.errors import CompileError, DeviceMemoryError, GpuprofError, KernelFault, PtxError, UsageError

INVALID_VALUE = 1
MEMORY_ALLOCATION = 2
INVALID_CONFIGURATION = 9
INVALID_SYMBOL = 13
INVALID_DEVICE_FUNCTION = 98
INVALID_RESOURCE_HANDLE = 400
COOPERATIVE_LAUNCH_TOO_LARGE = 720

# The first class that an error belongs to tells its number.
NUMBERS: tuple[tuple[type[GpuprofError], int], ...] = (
    (DeviceMemoryError, INVALID_VALUE),
    (CompileError, 209),
    (PtxError, 218),
    (UsageError, INVALID_VALUE),
)
# What a fault's text begins with -> the error of a lost context. Anything else is "unspecified launch failure".
FAULTS = (("misaligned", 716), ("assert", 710), ("cannot", 700), ("address", 700), ("0x", 700))
LAUNCH_FAILURE = 719


def number_of(error: GpuprofError) -> int:
    """The cudaError of one of our errors."""
    if isinstance(error, KernelFault):
        return fault_number(str(error))
    return next((number for kind, number in NUMBERS if isinstance(error, kind)), 999)


def fault_number(text: str) -> int:
    lowered = text.lower()
    return next((number for word, number in FAULTS if word in lowered), LAUNCH_FAILURE)
