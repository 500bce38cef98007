"""The built-in engine against EYE and a SPARQL fixpoint, on a realistic graph and on a chain."""
