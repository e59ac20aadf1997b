"""Every solver against its twin, its source and the optimum."""

import pytest

pytest.register_assert_rewrite("solvers.cutting_planes")
