"""Errors of this package that are more than a bad argument."""


class ColumnError(ValueError):
    """One column is the trouble.

    Attributes
    ----------
    column : int
        Its index.
    problem : str
        The rest of the message, which starts with the column.
    """

    def __init__(self, column: int, problem: str) -> None:
        super().__init__(column, problem)
        self.column = column
        self.problem = problem

    def __str__(self) -> str:
        return f"column {self.column} {self.problem}"


class ConvergenceError(ValueError):
    """A solver did not reach its tolerance; the message says at which penalty, and the way out.

    It is a `ValueError` because the input is what can be changed: larger penalties, fewer
    variables, or no pair of columns that repeat each other.
    """


class ColumnConvergenceError(ColumnError, ConvergenceError):
    """The regression of one column did not reach its tolerance."""
