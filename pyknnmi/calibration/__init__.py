"""Synthetic independence in data like the user's, and how often a CI test rejects it."""

from __future__ import annotations

from pyknnmi.calibration.rates import CalibratedQuestion, CalibratedSize, Calibration
from pyknnmi.calibration.synthetic import SyntheticNull

__all__ = ["CalibratedQuestion", "CalibratedSize", "Calibration", "SyntheticNull"]
