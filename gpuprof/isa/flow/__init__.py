"""Where control goes in a program, and which registers are live on the way."""
