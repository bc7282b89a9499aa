from __future__ import annotations

import math
import threading

import numpy as np
import oracle
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import pyknnmi
from pyknnmi import (
    DataError,
    DataTypeError,
    ParameterError,
    _core,
    conditional_mutual_information,
    entropy,
    mutual_information,
)
from pyknnmi.numbers import (
    conditional_mutual_informations,
    estimate_of_counts,
    neighbor_counts,
    permutation_test,
    permuted_rows,
    permuted_statistics,
)

# The core adds digammas in fixed point, in units of 2**-48; the rest is for the doubles of the formulas here.
FIXED_POINT = 2e-12
GAUSSIAN_ROWS = reference.load("golden_perm_bias.json")["gaussian_bias"]


def normals(n, *shape, seed=0):
    return np.random.default_rng(seed).standard_normal((n, *shape))


# Brute force


def spaces(values):
    """Data for x, y and z of 1 to 3, 1 to 2 and 0 to 3 columns, and a k that they allow."""
    return st.tuples(st.integers(2, 24), st.integers(1, 3), st.integers(1, 2), st.integers(0, 3)).flatmap(
        lambda shape: st.tuples(
            arrays(np.float64, (shape[0], shape[1]), elements=values),
            arrays(np.float64, (shape[0], shape[2]), elements=values),
            arrays(np.float64, (shape[0], shape[3]), elements=values),
            st.integers(1, shape[0] - 1),
        )
    )


@pytest.mark.parametrize(
    "values",
    [
        st.floats(-1e3, 1e3, width=64),
        st.integers(-20, 20).map(lambda i: i / 10),  # rounded: distances are equal up to their last bit
        st.integers(0, 1).map(float),  # nearly everything coincides
    ],
    ids=["reals", "decimals", "bits"],
)
def test_equals_brute_force(values):
    @given(spaces(values))
    def check(data):
        x, y, z, k = data
        expected = oracle.conditional_mutual_information(x, y, z, k)
        found = conditional_mutual_information(x, y, z, k, estimator="ksg")
        assert found == pytest.approx(expected, abs=FIXED_POINT)
        each = [oracle.conditional_mutual_information(x[:, :1], y[:, [i]], z, k) for i in range(y.shape[1])]
        found = conditional_mutual_informations(x[:, :1], y, z, k, estimator="ksg")
        assert found == pytest.approx(each, abs=FIXED_POINT)

    check()


@pytest.mark.parametrize("engine", ["tree", "single", "batch"])
@pytest.mark.parametrize("conditions", [0, 1, 5])
def test_neighbor_counts_equal_brute_force(engine, conditions):
    data = normals(200, 2 + conditions, seed=conditions).round(2)
    xyz = data[:, :1], data[:, 1:2], data[:, 2:]
    for found, expected in zip(_core.neighbor_counts(*xyz, 5, engine), oracle.neighbor_counts(*xyz, 5), strict=True):
        assert found.tolist() == expected.tolist()


@pytest.mark.parametrize("columns", [1, 2, 3, 7])
@pytest.mark.parametrize("k", [1, 3, 49])
def test_entropy_equals_brute_force(columns, k):
    x = normals(50, columns, seed=columns)
    assert entropy(x, k) == pytest.approx(oracle.entropy(x, k), rel=1e-13, abs=1e-13)


@pytest.mark.parametrize("engine", ["tree", "single", "batch"])
@pytest.mark.parametrize("n", [4, 63, 500])
@pytest.mark.parametrize("conditions", [0, 1, 2, 6])
def test_engines_and_thread_counts_agree_bit_for_bit(engine, n, conditions):
    data = normals(n, 8 + conditions).round(1)
    x, candidates, z = data[:, :1], data[:, 1:8], data[:, 8:]
    ksg = {"estimator": "ksg"}
    expected = [conditional_mutual_information(x, y, z, 3, threads=1, **ksg) for y in candidates.T]
    for threads in (1, 2, 3):
        found = conditional_mutual_informations(x, candidates, z, 3, engine=engine, threads=threads, **ksg)
        assert found.tolist() == expected
        counts = permutation_test(x, candidates[:, :1], z, 3, permutations=20, engine=engine, threads=threads, **ksg)
        assert counts == permutation_test(x, candidates[:, :1], z, 3, permutations=20, engine="tree", threads=1, **ksg)


# Closed forms


def gaussian_value(precision, x, y, z):
    """I(x; y | z) = 1/2 log(|S_xz| |S_yz| / (|S_z| |S_xyz|)), S the covariance."""
    covariance = np.linalg.inv(precision)
    log_det = [np.linalg.slogdet(covariance[np.ix_(s, s)])[1] for s in ([x, *z], [y, *z], z, [x, y, *z])]
    return (log_det[0] + log_det[1] - log_det[2] - log_det[3]) / 2


@pytest.mark.parametrize(
    "row",
    [row for row in GAUSSIAN_ROWS["rows"] if row["n"] == 1000],
    ids=lambda row: f"{row['x']}-{row['y']}-given-{row['z']}-k{row['k']}",
)
def test_gaussian_closed_form(row):
    precision = np.array(GAUSSIAN_ROWS["precision_matrix"])
    x, y, z, n = row["x"], row["y"], row["z"], row["n"]
    assert row["true"] == pytest.approx(gaussian_value(precision, x, y, z), abs=1e-12)
    draws = np.random.default_rng(5).multivariate_normal(np.zeros(4), np.linalg.inv(precision), (4, n))
    found = np.mean([conditional_mutual_information(d[:, x], d[:, y], d[:, z], row["k"]) for d in draws])
    # the 2018 code's mean and standard deviation over `reps` such draws
    error = row["sd"] * math.sqrt(1 / len(draws) + 1 / row["reps"])
    assert found == pytest.approx(row["mean"], abs=4 * error)
    assert found == pytest.approx(row["true"], abs=4 * error)


@pytest.mark.parametrize("r", [0.0, 0.6, 0.95])
def test_bivariate_normal_closed_form(r):
    x, e = normals(4000, 2, seed=3).T
    y = r * x + math.sqrt(1 - r * r) * e
    # sd over n = 1000 is 0.029 at most in golden_perm_bias.json; half of it here
    assert mutual_information(x, y) == pytest.approx(-math.log(1 - r * r) / 2, abs=4 * 0.029 / 2)


@pytest.mark.parametrize(
    ("draw", "value", "variance"),
    [
        # H, and the variance of -log density, of which psi(k)'s share is added below
        (lambda random, n: random.uniform(0, 3, n), math.log(3), 0.0),
        (lambda random, n: random.standard_normal(n), math.log(2 * math.pi * math.e) / 2, 0.5),
        (lambda random, n: random.exponential(1 / 4, n), 1 - math.log(4), 1.0),
    ],
    ids=["uniform", "normal", "exponential"],
)
def test_entropy_closed_form(draw, value, variance):
    n, k = 4000, 3
    trigamma = math.pi**2 / 6 - sum(1 / i**2 for i in range(1, k))  # variance of log of the k-th distance
    # neighbouring points share their neighbours: up to 2k + 1 terms go together
    error = math.sqrt((variance + (2 * k + 1) * trigamma) / n)
    assert entropy(draw(np.random.default_rng(1), n), k) == pytest.approx(value, abs=4 * error)


# Identities


@pytest.fixture
def xyz():
    e = normals(300, 4, seed=8)
    z = e[:, 2:]
    return e[:, 0] + z[:, 0], e[:, 1] + z[:, 0], z


def test_symmetric(xyz):
    x, y, z = xyz
    assert conditional_mutual_information(x, y, z) == conditional_mutual_information(y, x, z)


def test_order_of_rows_does_not_count(xyz):
    x, y, z = xyz
    order = np.random.default_rng(1).permutation(len(x))
    assert conditional_mutual_information(x[order], y[order], z[order]) == conditional_mutual_information(x, y, z)
    assert entropy(z[order]) == pytest.approx(entropy(z), rel=1e-13)


def test_order_and_copies_of_columns_do_not_count(xyz):
    x, y, z = xyz
    expected = conditional_mutual_information(x, y, z)
    assert conditional_mutual_information(x, y, z[:, ::-1]) == expected
    assert conditional_mutual_information(x, y, np.column_stack([z, z[:, 0]])) == expected
    assert conditional_mutual_information(np.column_stack([x, x]), y, z) == expected


@pytest.mark.parametrize(("scale", "shift"), [(2.0**-300, 0), (-1, 0), (1e5, 0), (0.1, 1 / 3)])
def test_common_scale_and_any_shift_do_not_count(xyz, scale, shift):
    moved = [scale * v + shift for v in xyz]
    assert conditional_mutual_information(*moved) == conditional_mutual_information(*xyz)
    if abs(scale) > 1e-100:
        _, _, z = xyz
        assert entropy(scale * z + shift) == pytest.approx(entropy(z) + 2 * math.log(abs(scale)), abs=1e-12)


def test_of_a_column_with_itself():
    x = normals(200)
    # n_x = n_y = k - 1 for every point of Eq. 8
    assert mutual_information(x, x) == pytest.approx(oracle.digamma(200) - oracle.digamma(3), abs=FIXED_POINT)


def test_nothing_is_left_given_the_column_itself(xyz):
    x, y, z = xyz
    # n_xz = n_z, and n_yz = k - 1
    assert conditional_mutual_information(x, y, np.column_stack([z, x])) == pytest.approx(0, abs=FIXED_POINT)


def test_a_constant_has_no_information(xyz):
    x, y, _ = xyz
    constant = np.full(len(x), 7.0)
    assert mutual_information(x, constant) == pytest.approx(0, abs=FIXED_POINT)
    assert conditional_mutual_information(x, y, constant) == mutual_information(x, y)


def test_no_columns_in_z_is_no_z(xyz):
    x, y, _ = xyz
    assert conditional_mutual_information(x, y, np.empty((len(x), 0))) == mutual_information(x, y)
    assert conditional_mutual_information(x, y, None) == mutual_information(x, y)
    assert conditional_mutual_information(x, y, []) == mutual_information(x, y)


@pytest.mark.parametrize("tied", [0, 1, 2])
def test_columns_with_ties_take_the_mixed_estimator(xyz, tied):
    columns = list(xyz)
    columns[tied] = np.maximum(columns[tied], 0)
    found = conditional_mutual_information(*columns)
    assert found == conditional_mutual_information(*columns, estimator="mixed")
    assert found != conditional_mutual_information(*columns, estimator="ksg")


def test_few_ties_and_constants_keep_the_ksg_estimator(xyz):
    x, y, z = xyz
    x = np.concatenate([x[:3], x[:3], x[:3], x[:3], x[12:]])  # four rows share a value: each coincides with k = 3
    for other in (z, np.zeros(len(x))):
        found = conditional_mutual_information(x, y, other)
        assert found == conditional_mutual_information(x, y, other, estimator="ksg")


def test_candidates_are_compared_by_one_estimator(xyz):
    x, y, z = (column[:, None] for column in (xyz[0], xyz[1], xyz[2][:, 0]))
    candidates = np.hstack([y, np.maximum(y, 0)])
    each = [conditional_mutual_information(x, column, z, estimator="mixed") for column in candidates.T]
    assert conditional_mutual_informations(x, candidates, z, 3).tolist() == each


def test_all_points_equal():
    same = np.zeros((20, 1))
    # all distances are 0, so every point counts everywhere: psi(k) + psi(n) - 2 psi(n)
    expected = oracle.digamma(3) - oracle.digamma(20)
    assert mutual_information(same, same) == pytest.approx(expected, abs=FIXED_POINT)
    assert entropy(same) == -math.inf


# The level is tested in C++. Here: the permutations are those of the fixed test.


# The door


@pytest.mark.parametrize("function", [mutual_information, lambda x, y: conditional_mutual_information(x, y, None)])
def test_unequal_lengths(function):
    with pytest.raises(DataError, match="x has 10 rows and y has 9"):
        function(np.arange(10.0), np.arange(9.0))


@pytest.mark.parametrize(
    ("bad", "error", "message"),
    [
        ([1.0, np.nan, 3, 4, 5], DataError, "x holds NaN"),
        ([1.0, np.inf, 3, 4, 5], DataError, "x holds NaN or infinite"),
        ([1j] * 5, DataTypeError, "x holds complex"),
        (["a"] * 5, DataTypeError, "x holds <U1"),
        ([None] * 5, DataTypeError, "x holds object"),
        (1.0, DataError, "x has 0 dimensions"),
        (np.zeros((5, 1, 1)), DataError, "x has 3 dimensions"),
        (np.zeros((5, 0)), DataError, "x has no columns"),
        ([1.0, 2, 3], DataError, "3 rows are too few for k = 3: give at least 4"),
        ([[1.0, 2], [3]], DataError, "x cannot be read as a table"),
        (np.ma.array([1.0, 2, 3, 4, 5], mask=[0, 1, 0, 0, 0]), DataError, "x holds NaN"),
    ],
    ids=["nan", "inf", "complex", "text", "objects", "scalar", "cube", "no-columns", "few-rows", "ragged", "masked"],
)
def test_refused(bad, error, message):
    with pytest.raises(error, match=message):
        entropy(bad)
    with pytest.raises(error, match=message):
        mutual_information(bad, bad)


CALLS = {
    "entropy": entropy,
    "mutual information": lambda x, **options: mutual_information(x, x, **options),
    "many": lambda x, **options: conditional_mutual_informations(x, x, x[:, :0], **{"k": 3} | options),
    "counts": lambda x, **options: neighbor_counts(x, x, x[:, :0], **{"k": 3} | options),
    "permutations": lambda x, **options: permutation_test(x, x, x[:, :0], **{"k": 3} | options),
}


@pytest.mark.parametrize(
    ("call", "options", "error", "message"),
    [
        *((call, {"threads": -1}, ParameterError, "threads = -1: give a whole number from 0 to") for call in CALLS),
        *((call, {"threads": 1.5}, ParameterError, r"threads = 1\.5: give a whole number") for call in CALLS),
        *((call, {"k": 10**30}, DataError, "9 rows are too few for k = 10{30}: give") for call in CALLS),
        *(
            (call, {"estimator": "ksgg"}, ParameterError, "estimator = 'ksgg' must be one of auto, ksg, mixed, cells")
            for call in ("mutual information", "many", "permutations")
        ),
        ("many", {"engine": "trees"}, ParameterError, "engine = 'trees' must be one of auto, tree, single, batch"),
        ("permutations", {"permutations": 10**12}, ParameterError, "permutations = 10{12}: .* from 1 to 2147483647"),
        ("permutations", {"permutations": 0}, ParameterError, "permutations = 0: give a whole number from 1"),
        ("permutations", {"neighbors": -1}, ParameterError, "neighbors = -1: give a whole number from 0"),
        ("permutations", {"seed": -1}, ParameterError, "seed = -1: give a whole number from 0 to 18446744073709551615"),
        ("permutations", {"stream": 2**64}, ParameterError, "stream = 18446744073709551616: give"),
    ],
)
def test_parameters_out_of_range(call, options, error, message):
    with pytest.raises(error, match=message):
        CALLS[call](normals(9, 1), **options)


@pytest.mark.parametrize("k", [0, -1])
def test_k_below_one(k):
    with pytest.raises(ParameterError, match=f"k = {k}: the number of neighbours is at least 1"):
        mutual_information(np.arange(10.0), np.arange(10.0), k)


@pytest.mark.parametrize("k", [3.5, True])
def test_k_that_is_not_whole(k):
    with pytest.raises(ParameterError, match=f"k = {k}: the number of neighbours is a whole number"):
        entropy(np.arange(10.0), k)


@pytest.mark.parametrize("kind", [np.int8, np.uint64, np.float16, np.float32, bool, ">f8", np.longdouble])
def test_number_types(kind):
    data = np.random.default_rng(2).integers(0, 2, (50, 2)).astype(kind)
    assert mutual_information(*data.T) == mutual_information(*data.astype(np.float64).T)


def test_frames_and_series():
    pandas = pytest.importorskip("pandas")
    data = normals(60, 3)
    frame = pandas.DataFrame(data, columns=list("abc"), index=range(60, 0, -1))
    found = conditional_mutual_information(frame["a"], frame["b"], frame[["c"]])
    assert found == conditional_mutual_information(*data.T)


# Time and threads


def test_poll_ends_a_long_call():
    x, y = normals(3000, 2, 1).swapaxes(0, 1)

    polls = []

    def poll():
        polls.append(1)
        if len(polls) == 2:
            raise StopIteration

    with pytest.raises(StopIteration):
        permutation_test(x, y, np.empty((3000, 0)), 3, permutations=10**6, poll=poll)  # all would take many minutes
    assert len(polls) == 2


def test_poll_ends_a_single_estimate_too():
    x, y, z = normals(6000, 3, 1).swapaxes(0, 1)

    def poll():
        raise StopIteration

    for estimate in (conditional_mutual_information, neighbor_counts):
        with pytest.raises(StopIteration):
            estimate(x, y, z, 2000, poll=poll)


def test_other_threads_run_meanwhile():
    x, y = normals(1000, 2, 1).swapaxes(0, 1)
    ran = threading.Event()
    watcher = threading.Thread(target=ran.set)

    def poll():
        if not watcher.ident:
            watcher.start()
        if ran.wait(0):
            raise StopIteration

    with pytest.raises(StopIteration):
        permutation_test(x, y, np.empty((1000, 0)), 3, permutations=10**7, poll=poll)
    watcher.join()


def test_calls_from_several_threads_agree(xyz):
    expected = conditional_mutual_information(*xyz)
    found = []
    workers = [threading.Thread(target=lambda: found.append(conditional_mutual_information(*xyz))) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert found == [expected] * 4


def test_build_info():
    info = pyknnmi.build_info()
    assert "compiler" in info
    assert all(isinstance(value, str) for value in info.values())


def mixed_by_the_formula(x, y, z, k):
    """Mesner and Shalizi (2019): points at the k-th distance count, and their number in the joint space is the k."""
    n = len(x)
    dx, dy, dz = (oracle.distances(part) for part in (x, y, z))
    joint = np.maximum(np.maximum(dx, dy), dz)
    radius = oracle.kth_distances(joint, k)[:, None] * (1 + 1e-10)

    def mean_digamma(space):
        return math.fsum(oracle.digamma(int(count)) for count in (space <= radius).sum(axis=1) - 1) / n

    of_z = oracle.digamma(n) if z.shape[1] == 0 else mean_digamma(dz)
    return mean_digamma(joint) - mean_digamma(np.maximum(dx, dz)) - mean_digamma(np.maximum(dy, dz)) + of_z


@pytest.mark.parametrize("case", range(30))
def test_mixed_estimator_equals_the_formula(case):
    random = np.random.default_rng(case)
    n, k = int(random.integers(8, 90)), int(random.integers(1, 6))
    draws = [
        random.standard_normal,
        lambda shape: random.integers(0, 3, shape).astype(float),
        lambda shape: np.round(random.standard_normal(shape), 1),
    ]
    widths = (1, random.integers(1, 3), random.integers(0, 3))
    x, y, z = (draws[random.integers(3)]((n, int(width))) for width in widths)
    expected = mixed_by_the_formula(x, y, z, k)
    for threads in (1, 2):
        found = conditional_mutual_information(x, y, z, k, estimator="mixed", threads=threads)
        assert found == pytest.approx(expected, abs=1e-12)


def test_mixed_estimator_of_candidates_and_permutations():
    random = np.random.default_rng(1)
    x, z = random.integers(0, 3, (60, 1)).astype(float), random.standard_normal((60, 1))
    ys = random.integers(0, 2, (60, 5)).astype(float)
    scores = conditional_mutual_informations(x, ys, z, 3, estimator="mixed")
    each = [conditional_mutual_information(x, ys[:, [j]], z, 3, estimator="mixed") for j in range(5)]
    assert scores.tolist() == each
    assert permutation_test(x, ys[:, :1], z, 3, permutations=9, estimator="mixed").statistic == each[0]
    pairs = permutation_test(x, ys[:, :2], z, 3, permutations=9)
    assert pairs == permutation_test(x, ys[:, :2], z, 3, permutations=9, engine="batch")


def cells_by_the_formula(x, y, z):
    """Grassberger (1988): psi of the number of rows in a cell stands for its logarithm."""

    def mean_digamma(space):
        _, cell, sizes = np.unique(space, axis=0, return_inverse=True, return_counts=True)
        return math.fsum(oracle.digamma(int(size)) for size in sizes[cell.ravel()]) / len(x)

    of_z = mean_digamma(z) if z.shape[1] else oracle.digamma(len(x))
    return mean_digamma(np.hstack([x, y, z])) - mean_digamma(np.hstack([x, z])) - mean_digamma(np.hstack([y, z])) + of_z


@pytest.mark.parametrize("case", range(10))
def test_cells_equal_the_formula(case):
    random = np.random.default_rng(case)
    n, width = int(random.integers(8, 90)), int(random.integers(0, 3))
    x, ys, z = (random.integers(0, 1 + case, (n, columns)) - 0.5 for columns in (1, 9, width))
    found = conditional_mutual_informations(x, ys, z, 3, estimator="cells")
    assert found == pytest.approx([cells_by_the_formula(x, y[:, None], z) for y in ys.T], abs=1e-12)
    one = permutation_test(ys[:, :2], x, z, 2, permutations=9, seed=case, estimator="cells")
    assert one.statistic == pytest.approx(cells_by_the_formula(x, ys[:, :2], z), abs=1e-12)
    rows = permuted_rows(z, permutations=9, seed=case)
    permuted = [cells_by_the_formula(ys[:, :2], x[row], z) for row in rows]
    assert one.at_least == sum(value > one.statistic - 1e-9 for value in permuted)


def test_cells_are_for_questions_without_order():
    random = np.random.default_rng(2)
    two, three, normal = random.integers(0, 2, 100), random.integers(0, 3, 100), random.standard_normal(100)
    for columns, flags, estimator in (
        ((two, two[::-1], None), (), "cells"),
        ((three, three[::-1], two), (True, True, False), "cells"),
        ((three, three[::-1], two), (), "cells"),  # 18 cells for 100 rows
        ((three, three[::-1], np.arange(100) % 9), (True, False, False), "mixed"),  # 81 cells
        ((three, three[::-1], None), (), "mixed"),
        ((two, normal, None), (), "mixed"),
        ((two, two[::-1], np.zeros(100)), (), "cells"),
    ):
        by_name = conditional_mutual_information(*columns, categories=flags, estimator=estimator)
        assert conditional_mutual_information(*columns, categories=flags) == by_name
    candidates = np.column_stack([two[::-1], normal])
    expected = conditional_mutual_informations(two, candidates, None, estimator="mixed")
    assert conditional_mutual_informations(two, candidates, None).tolist() == expected.tolist(), "one for all"


def test_lists_and_single_columns_are_taken():
    x, y, z = normals(40, 3).T
    arrays_of_columns = x[:, None], y[:, None], z[:, None]
    lists = x.tolist(), y.tolist(), z.tolist()
    assert conditional_mutual_informations(*lists).tolist() == [conditional_mutual_information(x, y, z)]
    assert permutation_test(*lists, permutations=9) == permutation_test(*arrays_of_columns, permutations=9)
    assert np.array_equal(neighbor_counts(*lists), neighbor_counts(*arrays_of_columns))
    observed, permuted = permuted_statistics(*lists, permutations=9)
    assert (observed, (permuted >= observed).sum(), len(permuted)) == (
        (found := permutation_test(*lists, permutations=9)).statistic,
        found.at_least,
        found.permutations,
    )


@pytest.mark.parametrize("conditions", [0, 1, 3])
def test_counts_give_the_estimate_to_the_bit(conditions):
    x, y, z = np.split(np.random.default_rng(conditions).normal(size=(300, 2 + conditions)), [1, 2], axis=1)
    expected = conditional_mutual_information(x, y + x, z, 4, estimator="ksg")
    assert estimate_of_counts(*neighbor_counts(x, y + x, z, 4), 4) == expected
    counts = oracle.neighbor_counts(x, y + x, z, 4)
    terms = [oracle.digamma(int(n) + 1) for of_points in counts for n in of_points]
    xz, yz, given = (math.fsum(terms[i * 300 : (i + 1) * 300]) / 300 for i in range(3))
    by_formula = oracle.digamma(4) - xz - yz + given  # Frenzel and Pompe 2007
    assert estimate_of_counts(*counts, 4) == pytest.approx(by_formula, abs=1e-12)


def test_counts_that_cannot_be():
    counts = neighbor_counts(np.arange(9.0), np.arange(9.0) ** 2, None)
    assert isinstance(estimate_of_counts(*counts), float)
    with pytest.raises(DataError, match=r"^xz has 8 counts and z has 9: give one for each point"):
        estimate_of_counts(counts[0][1:], *counts[1:])
    for wrong in (-1, 9, 0.5):
        with pytest.raises(DataError, match=r"^yz must be counts of other points: whole numbers from 0 to 8"):
            estimate_of_counts(counts[0], [wrong, *counts[1][1:]], counts[2])
    with pytest.raises(DataError):
        estimate_of_counts(*(of_points[:, None] for of_points in counts))
    with pytest.raises(ParameterError):
        estimate_of_counts(*counts, k=0)
    with pytest.raises(DataError):
        estimate_of_counts([], [], [])


@pytest.mark.parametrize("function", [conditional_mutual_informations, neighbor_counts, permutation_test])
def test_what_is_no_sample_is_an_error_of_ours(function):
    x = normals(40, 1)
    with pytest.raises(DataTypeError):
        function(x, ["a"] * 40, x)
    with pytest.raises(DataError, match="has 39: give equal lengths"):
        function(x, x[1:], x)
    with pytest.raises(DataError, match="NaN"):
        function(x, np.where(x > 0, np.nan, x), x)


@pytest.mark.parametrize(("rows", "columns"), [(9_000, 0), (20_000, 1)])
def test_engines_agree_where_very_many_rows_are_equal(rows, columns):
    x, *z = (normals(rows, 1 + columns) > 0).astype(float).T
    y, given = normals(rows, seed=1), np.array(z).reshape(columns, rows).T
    values = [conditional_mutual_informations(x, y, given, 3, engine=engine) for engine in ("auto", "single", "batch")]
    assert values[0] == values[1] == values[2]
