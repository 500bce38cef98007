"""Check a container when it starts, by the facts of the machine that trained."""
