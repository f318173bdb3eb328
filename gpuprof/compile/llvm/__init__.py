"""LLVM's IR and PTX as text: debug information, names, blocks and source positions."""
