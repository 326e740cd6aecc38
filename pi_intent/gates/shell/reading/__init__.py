"""The reading of a shell's text: a walk through its tree, to the commands and what each is given."""
