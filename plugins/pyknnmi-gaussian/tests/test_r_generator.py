"""The stand-in for R's generator, on which comparisons of random choices rest."""

from __future__ import annotations


def test_sample_equals_r(r_generator):
    # R 4.2.2: set.seed(1001); sample(500, 5)
    assert r_generator(1001).sample(500, 5).tolist() == [87, 419, 335, 304, 327]
