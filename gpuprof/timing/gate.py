"""The filter of a trace cell: which of the samples that it takes are wanted. What does not pass is not due and takes no room anywhere."""

from gpuprof.timing.jit import hot


@hot
def passes(m, sm, wi, t):
    """Whether a sample of warp `wi` in cycle t is wanted."""
    return True
