"""What all tests share: plots without a screen, and hypothesis without deadlines (the machines that
run these are busy)."""

import matplotlib
import pytest
from hypothesis import settings

matplotlib.use("Agg")
settings.register_profile("extremal", deadline=None, derandomize=True, max_examples=300)
settings.load_profile("extremal")


@pytest.fixture
def rng():
    import numpy as np

    return np.random.default_rng(7)
