"""Regression on a conditioning set, for components and their authors."""

from __future__ import annotations

from pyknnmi.regression.recent import Recent
from pyknnmi.regression.smoother import Smoothed, Smoother
from pyknnmi.regression.ties import spread_ties

__all__ = ["Recent", "Smoothed", "Smoother", "spread_ties"]
