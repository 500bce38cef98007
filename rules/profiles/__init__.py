"""Profiles: named policies that ship with envcheck."""
