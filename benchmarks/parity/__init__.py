"""How well parity finds planted faults, and what it costs beside other tools."""
