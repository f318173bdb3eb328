"""The flow of control in a program, and the registers that are live on the way."""
