"""What a shell command would run and what that puts at risk, read from its text: nothing is ever run."""
