"""Compare two environments: facts side by side, rules over them, findings."""
