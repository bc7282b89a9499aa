"""Measure pyknnmi and its peers in one run; see README.md beside this file."""

from __future__ import annotations

import os

for variable in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(variable, "1")  # before they are loaded; pyknnmi has an argument for its threads

# ruff: noqa: E402
import argparse
import csv
import dataclasses
import platform
import subprocess
import sys
import warnings
from pathlib import Path

import libraries
from parts import PARTS, Row
from report import draw, markdown

import pyknnmi


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help="default: all")
    parser.add_argument("--quick", action="store_true", help="small sizes")
    parser.add_argument("--out", type=Path, default=None, help="folder for results.csv, results.md and plots")
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore")
    if libraries.available("npeet_plus"):
        register_npeet()
    chosen = arguments.parts or list(PARTS)
    here = machine()
    rows = [row for row in read_rows(arguments.out) if row.part not in chosen]  # of parts run before
    for name in chosen:
        for row in PARTS[name](arguments.quick):
            rows.append(dataclasses.replace(row, machine=here))
            ratio = "" if row.ratio is None else f"{row.ratio:10.1f} x"
            print(
                f"{row.part:13} n={row.n:<7} z={row.conditions:<3} p={row.columns:<4} {row.library:13}"
                f"{row.value:12.6g} {row.unit}{ratio}",
                flush=True,
            )
        if arguments.out:
            write(sorted(rows, key=lambda row: list(PARTS).index(row.part)), arguments.out)


def read_rows(folder: Path | None) -> list[Row]:
    """Return the rows that an earlier run left."""
    if folder is None or not (folder / "results.csv").exists():
        return []
    with (folder / "results.csv").open(newline="") as stream:
        return [Row.from_text(record) for record in csv.DictReader(stream)]


def write(rows: list[Row], folder: Path) -> None:
    """Write the table and the plots of all rows."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "results.csv").open("w", newline="") as stream:
        writer = csv.DictWriter(stream, [field.name for field in dataclasses.fields(Row)], lineterminator="\n")
        writer.writeheader()
        writer.writerows(dataclasses.asdict(row) for row in rows)
    (folder / "results.md").write_text(markdown(rows))
    draw(rows, folder)


def register_npeet() -> None:
    @pyknnmi.register_ci_test
    @dataclasses.dataclass(frozen=True, kw_only=True)
    class Npeet(pyknnmi.components.CITest):
        """npeet_plus."""

        name = "npeet"
        permutations: int = 200

        def bind(self, dataset: pyknnmi.Dataset, run: pyknnmi.Run) -> pyknnmi.components.BoundTest:
            return libraries.NpeetBound(dataset, self.permutations)


def machine() -> str:
    """Return the machine, the commit and the build in one line."""
    cpu = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        models = [line.partition(":")[2].strip() for line in cpuinfo.read_text().splitlines() if "model name" in line]
        cpu = f"{len(models)} x {models[0]}" if models else cpu
    commit = subprocess.run(
        ["git", "describe", "--always", "--dirty"],
        capture_output=True,
        check=False,
        text=True,
        cwd=Path(__file__).parent,
    ).stdout.strip()
    build = pyknnmi.build_info()
    return (
        f"{cpu}; {platform.system()}; Python {sys.version.split()[0]}; {build.get('compiler', '')}; "
        f"{build.get('instruction_set', '')}; commit {commit}"
    )


if __name__ == "__main__":
    main()
