"""Optional packages."""

import importlib


def pandas():
    """Imports pandas, for data frames."""
    return _imported("pandas", "to_pandas", "pandas")


def pyplot():
    """Imports matplotlib.pyplot, for plots."""
    return _imported("matplotlib.pyplot", "plot", "plot")


def _imported(module, what, extra):
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise ImportError(f"{what} needs {package}: pip install 'extremal[{extra}]'") from error
