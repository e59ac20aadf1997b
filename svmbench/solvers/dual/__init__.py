"""Methods that move the dual variables."""
