"""Tables as the package sees them, and the files that they come from."""
