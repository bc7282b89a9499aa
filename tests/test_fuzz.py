"""Each door is given mutated input: it takes it, or refuses it with an error of the package's own.

``--inputs N`` gives each door N inputs; the same seed gives the same ones, ``--fuzz-seed`` others.
"""

from __future__ import annotations

import csv
import io
import json
import random
import re
import warnings
from pathlib import Path

import numpy as np
import oracle
import pytest
from click.testing import CliRunner

import pyknnmi
from pyknnmi import DataError, Dataset, Pipeline, PyknnmiError, Store, _core, learn, read_result, read_table
from pyknnmi.cli import main
from pyknnmi.learning.exports import WRITERS, result_json

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::pyknnmi.errors.PyknnmiWarning")]

DATA, _ = pyknnmi.simulate.small_network(60, seed=2)
ODD = ["", "\0", "\r", "\n", "\t", '"', "'", ",", ";", "\\", "\x1b[31m", "é", "\u2028", "\U0001f600", "\ud800", "=1+1"]
ODD += ["-1", "1e999", "9" * 5000, "NaN", "NA", "none", "true", "1_0", "5%", "$1", "1,5", "(", ")", "+", "=", "None"]


@pytest.fixture
def inputs(request):
    """One random generator an input; that of input i depends on the test, the seed and i alone."""
    seed, count = (request.config.getoption(option) for option in ("--fuzz-seed", "--inputs"))
    return (random.Random(f"{request.node.name} {seed} {number}") for number in range(count))


def mutated(text, draw, most=4):
    """Return a text with a few places changed, doubled, cut or filled with something odd."""
    for _ in range(draw.randint(1, most)):
        at = draw.randint(0, len(text))
        end = min(len(text), at + draw.choice([0, 1, 1, 3, 10]))
        text = text[:at] + draw.choice([*ODD, text[at:end] * 2, chr(draw.randint(1, 255))]) + text[end:]
    return text


def refused(call, *arguments, **keywords):
    """Return whether a door refused what it got; other errors are the test's failure."""
    try:
        call(*arguments, **keywords)
    except PyknnmiError:
        return True
    return False


def test_specs(inputs):
    specs = [
        "iamb+knn-cmi(k=5,permutations=39)",
        "ranks+pc-stable(rule=and)+fisher-z(alpha=0.01)",
        "pairwise+separation",
    ]
    for draw in inputs:
        spec = mutated(draw.choice(specs), draw)
        if not refused(Pipeline.parse, spec):
            assert str(Pipeline.parse(str(Pipeline.parse(spec)))) == str(Pipeline.parse(spec))


def test_files(inputs, tmp_path):
    rows = "".join(f"{i},{i * 37 % 101 / 8},{'abc'[i % 3]},{i * 53 % 97}\n" for i in range(12))
    text, path = f"n,x,label,y\n{rows}", tmp_path / "data"
    for draw in inputs:
        content = mutated(draw.choice([text, text.replace(",", ";"), text.replace("\n", "\r\n")]), draw, 6)
        path.write_bytes(content.encode("utf-8", "surrogatepass") if draw.random() < 0.9 else draw.randbytes(200))
        if not refused(read_table, path, "drop-per-test"):
            data = read_table(path, "drop-per-test")
            assert data.has_missing or np.isfinite(data.values).all()


def test_frames(inputs):
    pandas = pytest.importorskip("pandas")
    values = [1, 2.5, -3, True, None, np.nan, np.inf, "a", "5%", "NA", "", 10**400, 2**60 + 1, b"x", (1,), {}]
    values += [pandas.NA, pandas.NaT, pandas.Timestamp(0), 1j, np.float32(2), np.int64(7), Path("x"), "\ud800"]
    for draw in inputs:
        kinds = [draw.sample(values, draw.choice([1, 1, 2, 3])) for _ in range(draw.randint(1, 4))]
        columns = {draw.choice(["x", "y", 1, "", *ODD]): [draw.choice(kind) for _ in range(8)] for kind in kinds}
        as_frame = draw.random() < 0.7 and "\ud800" not in columns  # which pandas refuses itself
        table = (
            pandas.DataFrame({k: pandas.Series(v, dtype=object) for k, v in columns.items()}) if as_frame else columns
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # NumPy's and pandas' own, of what they were given
            refused(Dataset.of, table, missing=draw.choice(["raise", "drop", "drop-per-test"]))


def test_stores(inputs, tmp_path):
    path = tmp_path / "store.db"
    expected = learn(DATA, "iamb+fisher-z", store=path)
    whole = path.read_bytes()
    for draw in inputs:
        content = bytearray(whole)
        for _ in range(draw.randint(1, 40)):
            content[draw.randrange(len(content))] = draw.randrange(256)
        path.write_bytes(content[: draw.randrange(len(content))] if draw.random() < 0.1 else content)
        kept = Store(path)
        for pair in expected.evidence:  # a damaged answer is an error, or a question that has no answer yet
            try:
                found = [kept.get(it.data, it.test, pair.source, pair.target, pair.given) for it in kept.summaries()]
            except DataError:
                break
            assert set(found) <= {None, pair.answer}
        kept.close()
        for name in ("store.db-wal", "store.db-shm"):
            (tmp_path / name).unlink(missing_ok=True)


def test_result_files(inputs, tmp_path):
    path = tmp_path / "result.json"
    whole = result_json(learn(DATA, "iamb+fisher-z", orient=True, required=[("X1", "X7")]))
    for draw in inputs:
        if draw.random() < 0.5:
            text = mutated(whole, draw)
        else:  # a value of another type, where JSON is still JSON
            record = json.loads(whole)
            part, key = record, draw.choice(list(record))
            while isinstance(part[key], dict | list) and part[key] and draw.random() < 0.8:
                part = part[key]
                key = draw.choice(list(part)) if isinstance(part, dict) else draw.randrange(len(part))
            part[key] = draw.choice([None, True, -1, 0.5, "x", "X1", [], ["X1"], {}, {"X1": 1}, [["X1", "Q"]]])
            text = json.dumps(record)
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        if not refused(read_result, tmp_path):
            assert json.loads(result_json(read_result(tmp_path)))["format"] == json.loads(whole)["format"]


def test_names_through_exports(inputs, tmp_path):
    networkx, pandas, igraph = map(pytest.importorskip, ("networkx", "pandas", "igraph"))
    for draw in inputs:
        names = tuple(mutated(draw.choice(["x", "a b", "\\x1b", "=1"]), draw, 3) for _ in range(3))
        required = [(names[0], names[2])]
        if refused(Dataset, DATA.values[:, :3], names):
            continue
        result = learn(Dataset(DATA.values[:, :3], names), "iamb+fisher-z(alpha=1e-9)", required=required)
        text = WRITERS["adjacency.csv"](result)
        head, *rows = csv.reader(io.StringIO(text, newline=""))
        read = [re.sub(r"(?s)\A'('*[=+\-@\t\r])", r"\1", cell) for cell in head[1:]]
        assert (read, head[1:]) == (list(names), [row[0] for row in rows])
        frame = pandas.read_csv(io.StringIO(text, newline=""), dtype=str, keep_default_na=False)
        assert frame.to_numpy().tolist() == rows
        graphs = [
            networkx.node_link_graph(json.loads(WRITERS["graph.json"](result)), edges="edges"),
            networkx.cytoscape_graph(json.loads(WRITERS["graph.cyjs"](result))),
        ]
        assert [list(graph.nodes) for graph in graphs] == [list(names)] * 2
        graphml = networkx.parse_graphml(WRITERS["graph.graphml"](result))
        gexf = networkx.read_gexf(io.BytesIO(WRITERS["graph.gexf"](result).encode()))
        (tmp_path / "graph.graphml").write_text(WRITERS["graph.graphml"](result), encoding="utf-8", newline="")
        as_igraph = igraph.Graph.Read_GraphML(str(tmp_path / "graph.graphml"))
        assert as_igraph.vs["name"] == [name for _, name in graphml.nodes(data="name")]
        assert len(as_igraph.es) == 1
        assert len(graphml) == len(gexf) == 3
        assert [len(graph.edges) for graph in (*graphs, graphml, gexf)] == [1] * 4


def test_command_lines(inputs, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "data.csv"
    path.write_text("a,b,c\n" + "".join(f"{i * 37 % 101},{i * 53 % 97},{i * 29 % 89}\n" for i in range(20)))
    lines = [
        ["learn", str(path), "--spec", "iamb+fisher-z", "--seed", "1", "--targets", "a", "--ignore", "b"],
        ["test", str(path), "a", "b", "--given", "c", "--test", "fisher-z"],
        ["audit", str(path), "--missing-marks", "3", "--json"],
        ["explain", "iamb+fisher-z"],
        ["store", "check", str(path)],
        ["describe", "iamb"],
    ]
    for draw in inputs:
        line = list(draw.choice(lines))
        at = draw.randrange(1, len(line))
        line[at] = mutated(line[at], draw, 2) if draw.random() < 0.8 else draw.choice(ODD)
        line = [word.replace("\ud800", "\udcff") for word in line]  # a byte that is no UTF-8, as Python shows it
        outcome = CliRunner().invoke(main, line)
        assert outcome.exit_code in (0, 2), (line, outcome.output, outcome.exception)
        assert "Traceback" not in outcome.output


def test_the_core_against_brute_force(inputs):
    for draw in inputs:
        generator = np.random.default_rng(draw.randrange(2**32))
        n, d = int(generator.integers(5, 40)), int(generator.integers(0, 4))
        points = generator.standard_normal((n, d + 2))
        if draw.random() < 0.5:
            points = np.round(points, int(generator.integers(0, 2)))  # ties
        points *= 10.0 ** draw.choice([*range(-9, 9), 307, -308, -320])
        k = int(generator.integers(1, n - 1))
        xyz = points[:, :1], points[:, 1:2], points[:, 2:]
        with np.errstate(over="ignore"):  # of distances: they are infinite then
            expected = oracle.neighbor_counts(*xyz, k)
        for engine in ("tree", "single", "batch"):
            for found, count in zip(_core.neighbor_counts(*xyz, k, engine=engine), expected, strict=True):
                np.testing.assert_array_equal(found, count)


# What the arguments of the compiled module may be and what they may not.
WHOLE = [-1, 0, 1, 2, 3, 7, 2**31 - 1, -(2**31), 2**31, 2**64]
NUMBERS = [0.05, 0.0, 1.0, -1.0, np.nan, np.inf, 1e-300]


def odd_points(draw, generator, n):
    """Return a table for the compiled module: often sound, else of another type, shape or layout, or not finite."""
    rows = n if draw.random() < 0.9 else draw.choice([0, 1, n + 1])
    points = generator.standard_normal((rows, draw.choice([0, 1, 1, 1, 2])))
    points *= 10.0 ** draw.choice([0, 0, 0, 307, -308, -323])
    if draw.random() < 0.2:
        points = np.round(points)
    if draw.random() < 0.1 and points.size:
        points.flat[draw.randrange(points.size)] = draw.choice([np.nan, np.inf, 1e308, -1e308])
    layouts = [np.asfortranarray, lambda a: a[::-1], lambda a: a.view("i8"), lambda a: a.T, lambda a: a[:, 0:0]]
    layouts += [lambda a: np.repeat(a, 2, axis=0)[::2], lambda a: a.tolist(), lambda a: a.astype(object)]
    return draw.choice(layouts)(points) if draw.random() < 0.2 else points


def test_the_core_takes_wrong_arguments_as_errors(inputs):
    for draw in inputs:
        generator, n = np.random.default_rng(draw.randrange(2**32)), draw.choice([2, 5, 12, 40])
        x, y, z = (odd_points(draw, generator, n) for _ in range(3))
        width = sum(np.shape(part)[1] if np.ndim(part) == 2 else 0 for part in (x, y, z))
        usual = {"k": 3, "estimator": "ksg", "engine": "auto", "threads": 1}
        drawn = {"permutations": 5, "neighbors": draw.choice([0, 3]), "seed": 1, "stream": 2, "threads": 1}
        odd = {
            "k": WHOLE,
            "estimator": ["mixed", "cells", "", None],
            "engine": ["tree", "single", "batch", "x"],
            "threads": [0, 2, -1, 2**31],
            "categories": [[], [True] * width, [False] * (width + 1), [2] * width, [-1] * width],
            "permutations": [-1, 0, 1, 2**31, 2**64, 1.5],
            "neighbors": WHOLE,
            "seed": WHOLE,
            "stream": WHOLE,
            "groups": [np.arange(n, dtype="u4"), np.zeros(n + 1, "u4"), np.zeros(n), np.full(n, 2**32 - 1, "u4")],
            "whole_groups": [True],
            "block_length": [*WHOLE, 2**64 - 1],
            "stop": ["certain", "sequential", "reached", ""],
            "alpha": NUMBERS,
        }
        in_turn = {key: value for key, value in drawn.items() if key != "threads"}
        name, points, allowed = draw.choice(
            [
                ("entropy", (x,), {"k": 3, "threads": 1}),
                ("conditional_mutual_information", (x, y, z), usual),
                ("conditional_mutual_informations", (x, y, z), usual),
                ("neighbor_counts", (x, y, z), {"k": 3, "engine": "auto", "threads": 1}),
                ("permutation_test", (x, y, z), {**usual, **in_turn, "stop": "never", "alpha": 0.05}),
                ("permuted_statistics", (x, y, z), {**usual, **in_turn}),
                ("permuted_rows", (z,), drawn),
                ("swapped_rows", (z,), drawn),
            ]
        )
        optional = ["categories"] if len(points) == 3 else []
        if "permutations" in allowed and name != "swapped_rows":
            optional += ["groups", "whole_groups", "block_length"]
        keywords = dict(allowed)
        for key in draw.sample([*allowed, *optional], draw.choice([0, 1, 2])):
            keywords[key] = draw.choice(odd[key])
        try:
            found = getattr(_core, name)(*points, **keywords)
        except (ValueError, TypeError):
            continue
        if name.endswith("_rows"):
            assert found.shape == (keywords["permutations"], len(z))
            assert (found < len(z)).all()
        else:
            parts = found if isinstance(found, tuple) else (found,)
            assert not any(np.isnan(part).any() for part in parts)


def block_of_products(features, term):
    """Return the features of a block: of one column, or the centred products of four features of two."""
    first, second, _ = term
    if second < 0:
        return features[first]
    products = features[first][:, :4, None] * features[second][:, None, :4]
    return (products - products.mean(axis=0)).reshape(len(products), 16)


def test_block_regressions_against_their_definition(inputs):
    for draw in inputs:
        generator, n, p = np.random.default_rng(draw.randrange(2**32)), draw.choice([2, 9, 30]), draw.choice([1, 2, 4])
        features = generator.standard_normal((p, n, 16))
        features -= features.mean(axis=1, keepdims=True)
        priors = generator.gamma(1.0, 0.3, (2, 3, 16)) * (generator.random(16) < 0.7)
        core = _core.BlockRegression(features, [0] * p, [priors[0]], priors[1], (0, 1, 2, 3), threads=1)

        def a_column(draw=draw, p=p):
            return draw.randrange(p) if draw.random() < 0.95 else draw.choice([-2, -1, p, 2**31 - 1, -(2**31)])

        def a_term(draw=draw, p=p, column=a_column):
            pair = draw.random() < 0.4 and p > 1
            first, second = sorted(draw.sample(range(p), 2)) if pair else (column(), -1)
            return first, second if draw.random() < 0.97 else column(), draw.choice([0, 1, 2, 2, 1, 0, 2, 1, -1, 3])

        target, terms = (a_column(), draw.choice([0, 5, 15, 15, 16])), [a_term() for _ in range(draw.choice([0, 1, 3]))]
        terms = list({term[:2]: term for term in terms}.values())
        columns, bins = [a_column() for _ in range(2)], draw.choice([0, 1, 5, 2**63])
        calls = {
            "fits": ([(target, columns, terms)], 0.5, 1.5, draw.choice([0, 3, 2**60]), draw.choice([-1, 0, 2])),
            "main_gains": ([(target, terms)], [columns], draw.choice([0.5, np.nan, np.inf])),
            "pair_scores": ([(target, terms)], [columns], [columns[:1]]),
            "without": ([(target, terms)], columns[:1], 0.5, 1.5),
            "coefficients": (target, terms),
            "residual": (target, terms),
            "products": (
                [(target, terms)],
                [[(target, terms)]],
                [columns],
                [draw.choice([[], [1.0], [1.0, 2.0]])],
                bins,
            ),
        }
        sound = 0 <= target[0] < p and 0 <= target[1] < 16
        for first, second, prior in terms:
            sound &= 0 <= first < p and (second == -1 or first < second < p) and 0 <= prior < 3
        for name, arguments in calls.items():
            try:
                getattr(core, name)(*arguments)
            except ValueError:
                continue
            assert sound
        if not sound:
            continue
        y = features[target[0]][:, target[1]]
        blocks = [block_of_products(features, term) for term in terms]
        chosen = np.hstack([np.empty((n, 0)), *blocks])
        spread = np.hstack([np.empty(0), *[priors[0 if second < 0 else 1][prior] for _, second, prior in terms]]) ** 2
        covariance = np.eye(n) + chosen * spread @ chosen.T
        means = spread * (chosen.T @ np.linalg.solve(covariance, y))
        np.testing.assert_allclose(np.ravel(core.coefficients(target, terms)), means, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(core.residual(target, terms), y - chosen @ means, rtol=1e-6, atol=1e-9)
        left = max(y @ np.linalg.solve(covariance, y) / (y @ y), 1e-12)
        gain = -0.5 * np.linalg.slogdet(covariance)[1] - 0.5 * (n - 1) * np.log(left)
        cost = sum(0.5 if second < 0 else 1.5 for _, second, _ in terms)
        (found,) = core.without([(target, terms)], [p - 1], 0.5, 1.5)
        if all(p - 1 not in term[:2] for term in terms):
            np.testing.assert_allclose(found, gain - cost, rtol=1e-7, atol=1e-7)
