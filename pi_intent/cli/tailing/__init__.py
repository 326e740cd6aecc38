"""Follow the calls of a project while they happen, and draw them."""
