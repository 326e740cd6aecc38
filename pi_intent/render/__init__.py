"""What a terminal shows of calls and sessions."""
