"""Look at a machine and say what is there: hosts, probes, redaction."""
