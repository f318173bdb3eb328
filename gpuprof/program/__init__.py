"""Whole CUDA programs: their host code is built and run in a process of its own, and what it asks of the GPU becomes
commands.

    calls       the calls that are forwarded, declared once
    build       sources to an executable with our runtime library
    arena       device memory, shared with the program
    channel     messages on the socket
    handlers    serves the calls
    serve       what each call does
    packed      device code in executables of nvcc
    process     the program's process, from its start to its end
"""
