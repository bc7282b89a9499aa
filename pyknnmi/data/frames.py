"""Tables of other libraries: data frames, Arrow tables, labelled arrays, columns by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from pyknnmi.errors import DataError

__all__ = ["columns_of"]


def columns_of(data: Any) -> list[tuple[Any, Any]] | None:
    """Return the labels and columns of a table that has names, or None if it has none.

    pandas and polars are taken as they are; lazy frames are collected. Everything else that is a frame, or offers
    Arrow's C interface, goes through narwhals: pyarrow, DuckDB, Modin, Ibis, PySpark and more.

    Raises
    ------
    DataError
        A mapping that is no table, a labelled array that is none, or a frame for which a library is missing.
    """
    if isinstance(data, Mapping):
        return _mapping(data)
    if isinstance(data, np.ndarray):
        return None if data.dtype.names is None else [(name, data[name]) for name in data.dtype.names]
    if hasattr(data, "dims") and hasattr(data, "coords"):
        return _labelled(data)
    for method in ("compute", "collect"):  # of Dask, of polars
        if hasattr(type(data), "columns") and hasattr(data, method):
            data = getattr(data, method)()
    if hasattr(data, "to_numpy") and hasattr(data, "columns"):
        return list(_of_frame(data))
    if len(getattr(data, "shape", (0, 0))) == 1:  # one column, which Arrow's interface offers too
        return None
    if hasattr(data, "__arrow_c_stream__") or hasattr(data, "__narwhals_dataframe__") or hasattr(data, "column_names"):
        try:
            return list(_of_frame(_by_narwhals(data)))
        except DataError:
            raise
        except Exception as error:
            raise DataError(f"the table of type {type(data).__name__} cannot be read: {error}") from error
    return None


def _of_frame(frame: Any) -> Iterator[tuple[Any, Any]]:
    labels = list(frame.columns)
    if len(set(labels)) < len(labels):  # the check of names reports it
        return ((label, None) for label in labels)
    return ((label, frame[label]) for label in labels)


def _by_narwhals(data: Any) -> Any:
    try:
        import narwhals
    except ImportError:
        raise DataError(
            f"a table of type {type(data).__name__} is read by the package narwhals, which is missing: "
            "pip install 'pyknnmi[frames]', or pass a frame of pandas or polars"
        ) from None
    frame = narwhals.from_native(data, pass_through=True)
    if frame is data:  # known only by Arrow's interface
        for backend in ("pyarrow", "polars", "pandas"):
            try:
                return narwhals.from_arrow(data, backend=backend)
            except ImportError:
                continue
        raise DataError(
            f"a table of type {type(data).__name__} needs the package pyarrow: pip install 'pyknnmi[frames]'"
        )
    return frame.collect() if isinstance(frame, narwhals.LazyFrame) else frame


def _mapping(data: Mapping[Any, Any]) -> list[tuple[Any, Any]]:
    if hasattr(data, "dims") and hasattr(data, "to_dataframe"):  # xarray's Dataset
        return list(_of_frame(data.to_dataframe()))
    if "feature_names" in data and "data" in data:  # scikit-learn's Bunch
        raise DataError(
            "the data are a Bunch of scikit-learn: load it with as_frame=True and pass its `frame`, or pass "
            "Dataset.of(bunch.data, bunch.feature_names)"
        )
    if not data:
        return []
    columns = {key: _column(column) for key, column in data.items()}
    lengths = {
        key: f"{np.shape(column)[0]} rows" if np.ndim(column) else "one value" for key, column in columns.items()
    }
    key, length = next(iter(lengths.items()))
    for other, its_length in lengths.items():
        if its_length != length or its_length == "one value":
            than = "" if other == key else f" where '{key}' has {length}"
            raise DataError(
                f"the data are a mapping, and column '{other}' has {its_length}{than}: give a mapping of names to "
                "columns of one length"
            )
    _check_row_labels(columns)
    return list(columns.items())


def _check_row_labels(columns: Mapping[Any, Any]) -> None:
    """Raise an error if columns of pandas label their rows differently: which values belong together is not clear."""
    labelled = [(key, column.index) for key, column in columns.items() if hasattr(column, "iloc")]
    for key, labels in labelled[1:]:
        if not labels.equals(labelled[0][1]):
            raise DataError(
                f"the data are a mapping, and column '{key}' has other row labels than '{labelled[0][0]}': pass "
                "pandas.DataFrame(data), which puts equal labels together, or columns without labels"
            )


def _column(given: Any) -> Any:
    """Return a column of a mapping; a sequence as objects, since NumPy turns numbers next to a text into text."""
    if hasattr(given, "to_numpy") or not isinstance(given, Sequence) or isinstance(given, str | bytes):
        return given if hasattr(given, "to_numpy") else np.asanyarray(given)  # a mask stays
    column = np.empty(len(given), dtype=object)
    column[:] = list(given)
    return column


def _labelled(array: Any) -> list[tuple[Any, Any]] | None:
    """Return the columns of a labelled array of xarray, which are labelled along its second dimension."""
    if len(array.dims) != 2 or array.dims[1] not in array.coords:
        return None
    labels = np.asarray(array.coords[array.dims[1]]).tolist()
    return list(zip(labels, np.asarray(array).T, strict=True))
