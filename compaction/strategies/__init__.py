"""The ways to compact, one module each."""
