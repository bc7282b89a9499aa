"""pyknnmi for scikit-learn: an estimator of the network of all columns, and a selector of features.

Needs scikit-learn 1.6 or later, ``pip install "pyknnmi[sklearn]"``.
"""

from __future__ import annotations

from pyknnmi.sklearn.markov_blanket_selector import MarkovBlanketSelector
from pyknnmi.sklearn.markov_network import MarkovNetwork

__all__ = ["MarkovBlanketSelector", "MarkovNetwork"]
