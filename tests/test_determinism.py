"""One answer: whatever may change how long a run takes, the files have the same bytes."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

RUN = """
import hashlib, multiprocessing, os, sys, warnings
import joblib, numpy as np, pyknnmi
from pyknnmi.learning.exports import WRITERS

def run(threads, jobs, backend, reverse):
    data, _ = pyknnmi.simulate.small_network(120, seed=3)
    code = np.arange(data.n) % 3.0
    order = slice(None, None, -1) if reverse else slice(None)
    table = {name: column for name, column in [*zip(data.names, data.values.T), ("code", code)][order]}
    digest = hashlib.sha256()
    for spec in SPECS:
        with joblib.parallel_config(backend) if backend else joblib.parallel_config():
            codes = ["code"] if "knn" in spec else []
            result = pyknnmi.learn(table, spec, seed=5, threads=threads, jobs=jobs, categories=codes)
        rows = sorted((sorted((e.source, e.target)), e.edge, e.given, repr(e.answer)) for e in result.evidence)
        digest.update(repr((rows, sorted(map(sorted, result.graph.edges)))).encode())
    return digest.hexdigest()

SPECS = ["iamb+knn-cmi(permutations=39)", "ranks+pc-stable+fisher-z", "iamb(adjust=candidates)+fisher-z"]

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    threads, jobs, backend, reverse = sys.argv[1:]
    arguments = int(threads), int(jobs), backend, reverse == "reverse"
    if method := os.environ.get("START_METHOD"):
        with multiprocessing.get_context(method).Pool(1) as pool:
            print(pool.apply(run, arguments))
    else:
        print(run(*arguments))
"""

VARIANTS = {
    "one thread": ((1, 1, "", ""), {}),
    "two threads": ((2, 1, "", ""), {}),
    "five threads": ((5, 1, "", ""), {}),
    "two jobs": ((0, 2, "", ""), {}),
    "three jobs of loky": ((3, 3, "loky", ""), {}),
    "joblib's threads": ((2, 2, "threading", ""), {}),
    "one after another": ((1, 2, "sequential", ""), {}),
    "columns reversed": ((2, 1, "", "reverse"), {}),
    "plain instructions": ((2, 1, "", ""), {"KNNMI_INSTRUCTION_SET": "plain"}),
    "AVX2": ((2, 1, "", ""), {"KNNMI_INSTRUCTION_SET": "avx2"}),
    "AVX-512": ((2, 1, "", ""), {"KNNMI_INSTRUCTION_SET": "avx512"}),
    "one thread of BLAS": ((1, 1, "", ""), {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}),
    "four threads of BLAS": ((1, 1, "", ""), {"OPENBLAS_NUM_THREADS": "4", "OMP_NUM_THREADS": "4"}),
    "in a child by fork": ((2, 1, "", ""), {"START_METHOD": "fork"}),
    "in a child by spawn": ((2, 1, "", ""), {"START_METHOD": "spawn"}),
    "in a child by forkserver": ((2, 1, "", ""), {"START_METHOD": "forkserver"}),
    "hashes of another seed": ((1, 2, "", "reverse"), {"PYTHONHASHSEED": "77"}),
}


def test_one_hash(tmp_path):
    script = tmp_path / "run.py"
    script.write_text(RUN, encoding="utf-8")
    hashes = {}
    for name, (arguments, environment) in VARIANTS.items():
        done = subprocess.run(
            [sys.executable, "-P", script, *map(str, arguments)],
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            check=False,
        )
        if "KNNMI_INSTRUCTION_SET" in environment and "ParameterError: the environment variable" in done.stderr:
            continue  # this machine has no such instructions
        assert done.returncode == 0, (name, done.stderr)
        hashes[name] = done.stdout.strip()
    assert len(set(hashes.values())) == 1, hashes
    assert len(hashes) >= len(VARIANTS) - 2
