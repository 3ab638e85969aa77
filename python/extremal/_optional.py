"""Packages that are used where they are installed."""

import importlib


def pandas():
    """pandas, for data frames."""
    return _imported("pandas", "to_pandas", "pandas")


def pyplot():
    """matplotlib's, for plots."""
    return _imported("matplotlib.pyplot", "plot", "plot")


def _imported(module, what, extra):
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise ImportError(f"{what} needs {package}: pip install 'extremal[{extra}]'") from error
