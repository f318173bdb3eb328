"""The command language: cuda-gdb's commands and abbreviations.

command         the form of a command, and abbreviations of names
command_blocks  blocks of lines: commands, define, document, if, while
settings        set and show
stop_text       texts of positions and stops
running         run, step, continue, and backwards
stops           break, watch, delete, condition
show_values     print, x, set var, display
stack_frames    backtrace, frame, up, down, list, disassemble
cuda_focus      the focus, and tables of kernels, blocks, warps, lanes, threads
info            info ...
general         echo, printf, and commands of gdb that are refused
command_table   all of them
console         reads commands from a terminal, a pipe or a script
"""
