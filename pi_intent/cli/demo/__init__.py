"""Show a whole session on a scripted model: no key, no network, nothing left behind."""
