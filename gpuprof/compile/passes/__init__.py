"""Changes of LLVM's IR and PTX after which the code is like nvcc's; one change a file, with the reason for it."""
