"""The command language: cuda-gdb's commands and abbreviations.

command    what a command is, and how names are shortened
said       how places and stops are said
running    run, step, continue, and backwards
stops      break, watch, delete, condition
data       print, x, set var, display
stack      backtrace, frame, up, down, list, disassemble
cuda       the focus, and tables of kernels, blocks, warps, lanes, threads
info       info ...
table      all of them
"""
