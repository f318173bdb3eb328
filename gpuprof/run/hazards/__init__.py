"""What runs add to what checkers find: errors of the host."""
