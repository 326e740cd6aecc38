"""What stands between the reading of a call and the tool: whether a person must see it first."""
