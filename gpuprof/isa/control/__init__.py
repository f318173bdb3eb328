"""Where control goes in a program: basic blocks, and which registers live across them."""
