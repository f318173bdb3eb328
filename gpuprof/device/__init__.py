"""What the host asks of the GPU: memory, loaded modules, launches as text, and the command stream."""
