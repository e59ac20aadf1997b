"""A results folder as pandas frames, with a table that notebooks show and figures."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import product
from pathlib import Path

import pandas as pd

from svmbench.records.columns import RUNS
from svmbench.records.measures import Asked
from svmbench.records.read import Results, read_results
from svmbench.records.spelling import counted
from svmbench.records.summaries import summary
from svmbench.report.single import FigureRequest, SingleFigure, single_figure


def load_results(folder: Path | str) -> LoadedResults:
    """Read the results that ``svmbench run`` has written.

    Parameters
    ----------
    folder : Path or str
        ``results/NAME``.

    Raises
    ------
    DataError
        If a file is missing or cannot be read, or has another schema version.
    """
    return LoadedResults(read_results(Path(folder)))


class LoadedResults:
    """The results of a sweep.

    Parameters
    ----------
    results : Results
        As read from the files.

    Attributes
    ----------
    name : str
        Of the sweep.
    folder : Path
    """

    def __init__(self, results: Results) -> None:
        self._results = results
        self.name, self.folder = results.name, results.folder

    @property
    def runs(self) -> pd.DataFrame:
        """A row per run: a copy of runs.csv, in which missing numbers are nan."""
        runs = self._results.runs.copy()
        for column in RUNS:  # what no table needs was not converted
            if column.presence == "unread" and column.kind == "number" and column.name in runs:
                runs[column.name] = pd.to_numeric(runs[column.name], errors="coerce")
        return runs

    @property
    def curves(self) -> pd.DataFrame:
        """A row per checkpoint of a run: seconds, epochs, P(w), suboptimality, errors."""
        names = {"wall_seconds": "seconds", "accuracy": "suboptimality"}
        return self._results.traces.rename(columns=names)

    @cached_property
    def summary(self) -> pd.DataFrame:
        """A row per data set, λ, label and accuracy ε.

        ``median_seconds`` is +inf if the median run did not reach ε, and lies between
        ``seconds_low`` and ``seconds_high``; ``reached`` of ``repeats`` runs reached it.
        """
        rows = []
        for groups in self._results.groups.values():
            for group, accuracy in product(groups, self._results.accuracies):
                found = summary(group, Asked("seconds", accuracy))
                rows.append(
                    {
                        "dataset": group.dataset,
                        "stand_in": group.stand_in,
                        "lambda": group.lam,
                        "C": float(group.runs["C"].iloc[0]),
                        "solver": group.solver,
                        "label": group.label,
                        "accuracy": accuracy,
                        "median_seconds": found.median,
                        "seconds_low": found.low,
                        "seconds_high": found.high,
                        "reached": found.reached,
                        "repeats": len(found.samples),
                    }
                )
        return pd.DataFrame(rows)

    def plot(
        self,
        x: str = "seconds",
        y: str = "suboptimality",
        solvers: Sequence[str] | str = (),
        dataset: Sequence[str] | str = (),
        lam: float | None = None,
        style: str = "paper",
        width: str | float | None = None,
    ) -> SingleFigure:
        """Draw the curves of each data set and λ, as ``svmbench plot`` does.

        Parameters
        ----------
        x, y, solvers, dataset, lam, style, width
            As for `svmbench.report.single.FigureRequest`. ``solvers`` and ``dataset`` may be one
            name or several.

        Returns
        -------
        SingleFigure
            Shown by notebooks; ``save(path)`` writes it, ``figure`` is matplotlib's.

        Raises
        ------
        ConfigError
            If the results do not have what is asked for; the message names what there is.
        """
        names, datasets = (
            (given,) if isinstance(given, str) else tuple(given) for given in (solvers, dataset)
        )
        asked = FigureRequest(x, y, names, datasets, lam, style, width)
        return single_figure(self._results, asked)

    def __repr__(self) -> str:
        runs = counted(len(self._results.runs), "run")
        return f"<results {self.name}: {runs} in {self.folder}>"

    def _repr_html_(self) -> str:
        """The summary, or the number of runs of each row if no accuracy was asked for."""
        if not self.summary.empty:
            return self.summary.to_html()
        sizes = self._results.runs.groupby(["dataset", "lambda", "label"]).size()
        return sizes.to_frame("runs").to_html()
