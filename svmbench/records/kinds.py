"""The tables and plots that a sweep can ask its report for."""

from __future__ import annotations

from typing import Literal, get_args

TableKind = Literal["time", "epochs", "objective"]
PlotKind = Literal["log-primal", "log-suboptimality"]

TABLES: tuple[TableKind, ...] = get_args(TableKind)
PLOTS: tuple[PlotKind, ...] = get_args(PlotKind)
