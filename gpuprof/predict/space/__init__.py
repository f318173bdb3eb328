"""The design space: its points, the front that nobody beats, what the score depends on, what limits it where."""
