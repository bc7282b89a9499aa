"""The conformance kit: checks that a component keeps the contract.

One line checks all at once::

    from pyknnmi.testing import check_ci_test

    check_ci_test(MyTest())

With pytest each check is a test of its own::

    from pyknnmi.testing import parametrize_with_checks


    @parametrize_with_checks([MyTest(), MyLearner()])
    def test_contract(check):
        check()

Built-in components pass the same checks, and every run holds what comes back to the same contract.
"""

from __future__ import annotations

from pyknnmi.conformance.kit import (
    Check,
    check_ci_test,
    check_learner,
    check_transform,
    checks_of,
    example_data,
    parametrize_with_checks,
)

__all__ = [
    "Check",
    "check_ci_test",
    "check_learner",
    "check_transform",
    "checks_of",
    "example_data",
    "parametrize_with_checks",
]
