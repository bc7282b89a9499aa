"""Errors of this package that are more than a bad argument."""


class ConvergenceError(ValueError):
    """A solver did not reach its tolerance; the message says at which penalty, and the way out.

    It is a `ValueError` because the input is what can be changed: larger penalties, fewer
    variables, or no pair of columns that repeat each other.
    """
