"""Synthetic independence in data like the user's, and how often a CI test rejects it."""
