"""Asking CI tests about columns, and the base of the learners that do."""
