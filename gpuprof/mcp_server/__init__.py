"""A server of the Model Context Protocol: tools for agents that tune kernels.

    arguments of a call ─ command_line ─> words of a gpuprof command ─ child ─> Outcome ─ server ─> result of the call

`tools` is the table that the list of tools, their schemas, the command lines and docs/mcp.md are made from. Each call
runs the command in a process of its own, with limits; nothing of gpuprof works in the server itself. Only `server`
imports the package `mcp`; `child` imports what that package brings along.
"""
