"""What the commands of a script put at risk, kind by kind."""
