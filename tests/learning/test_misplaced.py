from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from pyknnmi import ParameterError, bind, ci_test, learn

DATA = np.random.default_rng(1).standard_normal((30, 3))


@pytest.mark.parametrize(
    ("given", "way_out"),
    [
        ({"alpha": 0.01}, r"it is a parameter of knn-cmi, so write spec='iamb\+knn-cmi\(k=5,alpha=0.01\)'"),
        ({"alpha": np.float32(0.5)}, r"spec='iamb\+knn-cmi\(k=5,alpha=0.5\)'"),
        ({"rule": "or", "alpha": 0.01}, r"spec='iamb\(rule=or\)\+knn-cmi\(k=5,alpha=0.01\)'"),
        ({"rule": "or"}, r"it is a parameter of iamb, so write spec='iamb\(rule=or\)\+knn-cmi\(k=5\)'"),
        ({"test": "fisher-z"}, r"the test is part of the spec, so write spec='iamb\+fisher-z'"),
        ({"n_jobs": 2}, r"no argument 'n_jobs'; did you mean 'jobs'\? \(it has data, spec, seed"),
        ({"hue": 2}, r"no argument 'hue' \(it has data, spec, seed"),
        ({"weights": np.ones(30)}, r"no argument 'weights' \(it has data, spec, seed"),
        ({"weights": pd.Series(np.ones(30))}, r"no argument 'weights' \(it has data, spec, seed"),
        ({"alpha": 0.01, "weights": np.ones(30)}, r"write spec='iamb\+knn-cmi\(k=5,alpha=0.01\)'"),
    ],
)
def test_learn_says_where_an_argument_belongs(given, way_out):
    with pytest.raises(ParameterError, match=way_out):
        learn(DATA, "iamb+knn-cmi(k=5)", **given)


@pytest.mark.parametrize("call", [lambda **given: bind(DATA, **given), lambda **given: ci_test(DATA, 0, 1, **given)])
def test_questions_say_it_too(call):
    with pytest.raises(ParameterError, match=r"it is a parameter of knn-cmi, so write test='knn-cmi\(k=5\)'"):
        call(k=5)
