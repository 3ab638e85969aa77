"""Converts users' data to contiguous float64 arrays, which the compiled core borrows. Arrays that
already have this form are not copied. All other arrays are copied once."""

import numpy as np


_FLOAT64 = np.dtype(np.float64)


def is_ready(values):
    """Whether the core can borrow the array. Callers test this first, because it is the fastest test."""
    return (type(values) is np.ndarray and values.dtype is _FLOAT64
            and values.flags.c_contiguous and values.flags.aligned)


def floats(array):
    """Returns a contiguous float64 array: `array` itself if it has this form, otherwise a copy."""
    return array if is_ready(array) else np.require(array, np.float64, ["C", "A"])


def _numbers(values, what):
    """Returns a contiguous float64 array: `values` itself if it has this form, otherwise a copy.
    Refuses complex numbers, dates, texts and masked arrays, because numpy would convert them without a
    warning."""
    if is_ready(values):
        return values
    if isinstance(values, np.ma.MaskedArray):
        raise ValueError(f"{what} must not be masked: fill the missing values first")
    array = np.asarray(values)
    if array.dtype.kind not in "fiubO":
        raise ValueError(f"{what} must be real numbers, not {array.dtype}")
    if array.dtype.kind == "O" and any(isinstance(v, (str, bytes)) for v in array.flat):
        raise ValueError(f"{what} must be real numbers, not texts")
    return floats(array)


def vector(values, what, length=None):
    """A float64 vector."""
    array = _numbers(values, what)
    if array.ndim != 1:
        raise ValueError(f"{what} must have one dimension, not {array.ndim}")
    if length is not None and len(array) != length:
        raise ValueError(f"there are {len(array)} {what} for {length} rows")
    return array


def is_sparse(values):
    """Whether the value is a scipy sparse matrix or array. This test does not import scipy."""
    return hasattr(values, "tocsr") and hasattr(values, "nnz")


def _indices(values):
    """Column indices as uint32. The result is a view if the indices are int32, else a copy."""
    array = np.require(values, None, ["C", "A"])
    if array.size and array.dtype.kind not in "iu":
        raise ValueError(f"indices must be whole numbers, not {array.dtype}")
    if array.size and array.min() < 0:
        raise ValueError(f"indices must not be negative; the smallest index is {array.min()}")
    if array.dtype == np.int32:
        return array.view(np.uint32)
    if array.size and array.max() > 4294967294:
        raise ValueError(f"indices must be below 2^32 - 1; the largest index is {array.max()}")
    return array.astype(np.uint32)


def csr(matrix):
    """Returns indptr, indices and data of a sparse matrix, after adding up duplicate entries."""
    matrix = matrix.tocsr()
    ends, indices, data = matrix.indptr, matrix.indices, matrix.data
    # scipy does not check these arrays, and could read outside their memory
    if len(ends) < 1 or ends[0] != 0 or (ends[1:] < ends[:-1]).any() \
            or ends[-1] > min(len(indices), len(data)):
        raise ValueError("not a valid CSR matrix: indptr must increase from 0 to the number of entries")
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
        indices, data = matrix.indices, matrix.data
    ends = np.require(matrix.indptr, np.int64, ["C", "A"])
    count = ends[-1]
    if len(indices) != count or len(data) != count:
        indices, data = indices[:count], data[:count]
    return ends, _indices(indices), _numbers(data, "entries")


def matrix(values):
    """A float64 matrix, stored by rows."""
    array = _numbers(values, "rows")
    if array.ndim != 2:
        raise ValueError(f"rows must be a matrix, not an array of {array.ndim} dimensions")
    return array


def rows(values):
    """Returns a matrix in the form that the core accepts, and its shape."""
    if is_sparse(values):
        if len(values.shape) != 2:
            raise ValueError(f"rows must be a matrix, not an array of {len(values.shape)} dimensions")
        return (*csr(values), values.shape[1]), values.shape
    array = matrix(values)
    return array, array.shape


def given(*values):
    """Yields all arrays in the arguments. The arrays that the core borrows may be views of these
    arrays."""
    for value in values:
        if is_sparse(value):
            yield from (getattr(value, name, None) for name in ("indptr", "indices", "data"))
        elif isinstance(value, tuple):
            yield from value
        else:
            yield value


def gradient(values, dim):
    """Converts a gradient to a form that the core can borrow. The core calls this function for
    gradients that it can't borrow directly."""
    if is_sparse(values):
        if len(values.shape) == 2 and values.shape[0] != 1:
            raise ValueError(f"a gradient must be one row; this matrix has {values.shape[0]} rows")
        if values.shape[-1] != dim:
            raise ValueError(f"the gradient has length {values.shape[-1]}, the learner has dimension {dim}")
        indptr, indices, data = csr(values)
        return indices, data
    if isinstance(values, tuple) and len(values) == 2 and all(np.ndim(part) for part in values):
        indices, data = _indices(np.asarray(values[0])), vector(values[1], "values")
        if indices.ndim != 1 or len(indices) != len(data):
            raise ValueError(f"a sparse gradient needs one value per index; found {indices.size} indices and "
                             f"{len(data)} values")
        if (indices[1:] <= indices[:-1]).any():
            order = np.argsort(indices)
            indices, data = indices[order], data[order]
            repeated = indices[1:][indices[1:] == indices[:-1]]
            if repeated.size:
                raise ValueError(f"index {repeated[0]} occurs twice; add up the values of repeated indices first")
        return indices, data
    return vector(values, "gradient")
