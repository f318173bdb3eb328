"""What a Draw command holds."""
