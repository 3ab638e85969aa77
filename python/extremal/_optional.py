"""Optional packages."""

import importlib
from importlib.metadata import PackageNotFoundError, version

# also in pyproject.toml
SKLEARN = "1.6"


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


def without_sklearn(name):
    """The message that `name` could not be imported, because scikit-learn is missing or too old."""
    try:
        found = version("scikit-learn")
    except PackageNotFoundError:
        found = None
    is_old = found is not None and _numbers(found) < _numbers(SKLEARN)
    if found is None or is_old:
        here = f"scikit-learn {found} is installed" if is_old else "it is not installed"
        return f"{name} needs scikit-learn {SKLEARN} or newer, but {here}: pip install 'extremal[sklearn]'"
    return f"{name} could not import scikit-learn {found}"


def _numbers(version):
    return [int(part) for part in version.split(".")[:2] if part.isdigit()]
