"""Commands that run other commands, kind by kind: what they run."""
