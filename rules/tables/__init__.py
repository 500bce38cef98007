"""Fact tables that the comparison reads: roles, variants, known breaks."""
