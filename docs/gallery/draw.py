"""Learns and draws the tables of the gallery: draw.py [TABLE ...].

The tables come with packages and are read from there: scikit-learn, statsmodels, scanpy (an h5ad file, read by h5py)
and cdt (a CSV file; cdt itself is not imported, so `pip install --no-deps cdt` is enough). requirements.txt names
their versions.

Each table gives a picture here, NAME.svg, and a row of tables.csv. Seconds are CPU time on one thread.
"""

from __future__ import annotations

import csv
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pandas as pd

import pyknnmi
from pyknnmi.report.plots import save_plot

HERE = Path(__file__).parent


def shipped(package: str, path: str) -> Path:
    """Return a file of a package, without an import of the package."""
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        sys.exit(f"{package} is not installed: see requirements.txt")
    return Path(spec.origin).parent / path


def sachs() -> pd.DataFrame:
    """Return 11 molecules in 853 cells, the first of the table: those that were not interfered with."""
    table = pd.read_csv(shipped("cdt", "data/resources/cyto_full_data.csv")).iloc[:853]
    short = {"praf": "raf", "pmek": "mek", "p44/42": "erk", "pakts473": "akt", "pjnk": "jnk"}
    return table.rename(columns=short)


def diabetes() -> pd.DataFrame:
    from sklearn.datasets import load_diabetes

    names = {"bp": "blood pressure", "s1": "cholesterol", "s2": "ldl", "s3": "hdl", "s4": "chol/hdl"}
    names |= {"s5": "triglycerides", "s6": "glucose", "target": "progression"}
    table = load_diabetes(as_frame=True, scaled=False).frame.rename(columns=names)
    return table.astype({"sex": "category"})


def wine() -> pd.DataFrame:
    from sklearn.datasets import load_wine

    found = load_wine(as_frame=True)
    names = {"od280/od315_of_diluted_wines": "od280/od315"}
    table = found.data.rename(columns=lambda name: names.get(name, name.replace("_", " ")))
    return table.assign(grower=pd.Categorical(found.target))


def cancer() -> pd.DataFrame:
    from sklearn.datasets import load_breast_cancer

    found = load_breast_cancer(as_frame=True)
    table = found.data.iloc[:, :10].rename(columns=lambda name: name.removeprefix("mean "))
    return table.assign(diagnosis=pd.Categorical.from_codes(found.target, found.target_names))


def blood() -> pd.DataFrame:
    """Return the 60 genes that vary most, in 700 blood cells: logarithms of normalized counts."""
    import h5py
    import numpy as np

    with h5py.File(shipped("scanpy", "datasets/10x_pbmc68k_reduced.h5ad")) as file:
        counts = file["raw/X"] if "raw/X" in file else file["raw.X"]
        genes = file["raw/var"] if "raw/var" in file else file["raw.var"]
        names = [name.decode() for name in (genes["index"] if isinstance(genes, h5py.Group) else genes[:]["index"])]
        rows = len(counts["indptr"]) - 1
        table = np.zeros((rows, len(names)))
        row = np.repeat(np.arange(rows), np.diff(counts["indptr"][:]))
        table[row, counts["indices"][:]] = counts["data"][:]
    most = np.sort(np.argsort(-table.var(axis=0), kind="stable")[:60])
    return pd.DataFrame(table[:, most], columns=[names[i] for i in most])


def economy() -> pd.DataFrame:
    """Return growth and rates of an economy, a row a quarter."""
    import numpy as np
    from statsmodels.datasets import macrodata

    found = macrodata.load_pandas().data
    growth = {"gdp": "realgdp", "consumption": "realcons", "investment": "realinv", "government": "realgovt"}
    growth |= {"income": "realdpi", "money": "m1", "prices": "cpi"}
    table = pd.DataFrame({name: 100 * np.log(found[column]).diff() for name, column in growth.items()})
    return table.assign(unemployment=found["unemp"].diff(), interest=found["tbilrate"].diff()).dropna()


def sunspots() -> pd.DataFrame:
    """Return the number of sunspots in each year, beside those of the five years before."""
    from statsmodels.datasets import sunspots

    numbers = sunspots.load_pandas().data["SUNACTIVITY"]
    return pd.DataFrame({f"t-{lag}" if lag else "t": numbers.shift(lag) for lag in range(6)}).dropna()


TABLES: dict[str, Callable[[], pd.DataFrame]] = {
    table.__name__: table for table in (sachs, diabetes, wine, cancer, blood, economy, sunspots)
}
FIELDS = ("table", "rows", "columns", "spec", "edges", "tests", "CPU seconds", "processor", "commit")


def processor() -> str:
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    return next((line.split(": ")[1] for line in lines if line.startswith("model name")), "unknown")


def commit() -> str:
    done = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=HERE, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def learned(table: pd.DataFrame, spec: str, **options: object) -> tuple[pyknnmi.LearnResult, float]:
    """Return a result, and the seconds of CPU that it took."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pyknnmi.PyknnmiWarning)  # what the audit finds is printed
        start = time.process_time()
        result = pyknnmi.learn(table, spec, threads=1, **options)
        return result, time.process_time() - start


def row_of(name: str, result: pyknnmi.LearnResult, spec: str, seconds: float) -> dict[str, object]:
    n, p = result.shape
    counts = len(result.graph.edges), result.counts["tests"]
    return dict(zip(FIELDS, (name, n, p, spec, *counts, f"{seconds:.1f}", processor(), commit()), strict=True))


def main(names: list[str]) -> None:
    file = HERE / "tables.csv"
    old = list(csv.DictReader(file.open(encoding="utf-8"))) if file.exists() else []
    rows = {(row["table"], row["spec"]): row for row in old if row["table"] not in names}
    for name in names:
        table = TABLES[name]()
        audit = pyknnmi.audit(table)
        print(f"\n# {name}\n{audit}")
        for spec, options in ((audit.spec, audit.options), ("recommended", {})):
            result, seconds = learned(table, spec, **options)
            rows[name, spec] = row_of(name, result, spec, seconds)
            print(f"\n{spec}: {len(result.graph.edges)} edges, {seconds:.1f} s")
            print("; ".join(" - ".join(edge) for edge in result.graph.edges))
            if spec == audit.spec:
                save_plot(result, HERE / f"{name}.svg")
    order = list(TABLES)
    with file.open("w", encoding="utf-8", newline="") as out:
        writer = csv.DictWriter(out, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(sorted(rows.values(), key=lambda row: order.index(str(row["table"]))))


if __name__ == "__main__":
    main(sys.argv[1:] or list(TABLES))
