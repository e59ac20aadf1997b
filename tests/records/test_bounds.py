"""Reports refuse what lies below the certified bound, as runs and `verify` do."""

import pandas as pd
import pytest
from recorded_folders import SWEEP, make

from svmbench.errors import DataError
from svmbench.problem import accuracy_of
from svmbench.records.bounds import least_accuracy, lies_below
from svmbench.records.read import read_results


@pytest.mark.parametrize("distance", ["relative", "absolute"])
@pytest.mark.parametrize("bound", [1e-9, 0.3, 7.0, 1e6])
def test_an_accuracy_is_refused_where_p_lies_below(bound, distance):
    for share in (0.5, 0.999, 1.001, 2.0, 1e6):
        primal = bound * (1.0 - share * 1e-9)
        assert lies_below(primal, bound) is (share > 1.0)
        refused = accuracy_of(primal, bound, distance) < least_accuracy(bound, distance)
        assert refused is (share > 1.0)


def test_p_at_the_bound_does_not_lie_below():
    assert not lies_below(0.0, 0.0)
    assert least_accuracy(7.0) == least_accuracy(7.0, "relative") == -1e-9 - 1e-15


@pytest.fixture(scope="module", params=["relative", "absolute"])
def folder(request, tmp_path_factory):
    stop = {"accuracy": [0.1], "max_epochs": 3, "time_limit": 10.0, "distance": request.param}
    sweep = SWEEP | {"solvers": ["dcd"], "stop": stop}
    return make(tmp_path_factory.mktemp(request.param), sweep, keep_weights=False) / "results"


@pytest.mark.parametrize("name", ["runs.csv", "traces.csv"])
def test_results_below_the_bound_are_refused(folder, name):
    distance = read_results(folder).config["stop"].get("distance", "relative")
    bound = pd.read_csv(folder / "runs.csv")["reference_dual"][0]
    sound = (folder / name).read_text()
    for share, refused in ((0.9, False), (1.1, True)):
        table = pd.read_csv(folder / name)
        table.loc[0, "accuracy"] = share * least_accuracy(bound, distance)
        table.to_csv(folder / name, index=False)
        if refused:
            with pytest.raises(DataError, match="P lies below the certified bound"):
                read_results(folder)
        else:
            read_results(folder)
        (folder / name).write_text(sound)
