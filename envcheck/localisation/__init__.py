"""Training faults: record a run, derive facts, apply guarded rules, rank the causes."""
