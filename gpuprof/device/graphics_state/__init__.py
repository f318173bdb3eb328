"""The parts of a Draw command."""
