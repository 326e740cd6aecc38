"""Read the session files that coding agents write: each dialect in a file of its own, all into the same values."""
