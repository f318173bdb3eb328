"""Instructions as text and back, listings of functions, and text from files made safe to print."""
