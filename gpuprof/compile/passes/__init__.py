"""Changes of the text around LLVM: of clang's IR before it, of its PTX behind it."""
