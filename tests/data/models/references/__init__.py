"""One file a family, or a few of one kind: CASES, as make_families.py says."""
