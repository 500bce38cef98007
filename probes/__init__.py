"""The probes that ship with envcheck, one subject per file, discovered by name."""
