"""Variables of the environment that change what clang, nvcc, or its host compiler make of the same text and flags."""

EPOCH = "SOURCE_DATE_EPOCH"
VARIABLES = (
    "CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "CCC_OVERRIDE_OPTIONS", "NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS",
    "NVCC_CCBIN", "LIBRARY_PATH", EPOCH,
)  # fmt: skip
