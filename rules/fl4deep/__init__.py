"""The deployment rules of FL4Deep in their plain form."""
