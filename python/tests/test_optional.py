"""Messages about optional packages."""

import pytest

from extremal import _optional


@pytest.mark.parametrize("found, said", [
    (None, "needs scikit-learn 1.6 or newer, but it is not installed"),
    ("1.5.2", "needs scikit-learn 1.6 or newer, but scikit-learn 1.5.2 is installed"),
    ("1.10.0", "could not import scikit-learn 1.10.0"),
])
def test_the_version_of_scikit_learn(found, said, monkeypatch):
    def version(package):
        if found is None:
            raise _optional.PackageNotFoundError(package)
        return found

    monkeypatch.setattr(_optional, "version", version)
    assert said in _optional.without_sklearn("OnlineClassifier")
