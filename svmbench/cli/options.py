"""Options that several commands share."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

if TYPE_CHECKING:
    from svmbench.config.dataset_spec import DatasetSpec
    from svmbench.harness.place import Place
    from svmbench.harness.sweeps import Options

#: Marks a folder whose page may be written again.
OWN = "page.json"

offline = click.option("--offline", is_flag=True, help="Do not look for data on the network.")

report_only = click.option(
    "--report-only", is_flag=True, help="Run nothing; rewrite tables, plots and page."
)


def examples(*lines: str) -> str:
    """The end of a command's help: command lines to start from."""
    return "\n".join(["\b", "Examples:", *(f"  {line}" for line in lines)])


quiet = click.option("--quiet", is_flag=True, help="Print nothing but errors.")

as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")


def _loaded(
    ctx: click.Context, param: click.Parameter, files: tuple[Path, ...]
) -> tuple[Path, ...]:
    """Load the plug-ins, so that their solvers are known by name."""
    if files:
        from svmbench.solvers.registry import add_file

        for file in files:
            add_file(file)
    return files


plugins = click.option(
    "--plugin",
    "plugins",
    multiple=True,
    metavar="FILE",
    type=click.Path(path_type=Path),
    callback=_loaded,
    help="Include the solver that this Python file defines. May be repeated.",
)


class Named(click.Path):
    """A file or folder that has a name of its own: neither empty nor a standard stream."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value in ("", "-"):
            what = "- stands for no file here" if value else "is empty"
            kind = "file" if self.file_okay else "folder"
            instead = ", or leave the option out" if isinstance(param, click.Option) else ""
            self.fail(f"{what}; name a {kind}{instead}", param, ctx)
        return super().convert(value, param, ctx)


class _NewFile(Named):
    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        path: Path = super().convert(value, param, ctx)
        # /dev/stdout is such a link. To replace what it leads to would lose the other output.
        if path.is_symlink():
            places = path.readlink(), path.parent.resolve()
            if any(each.is_relative_to("/proc") for each in places):
                self.fail(f"{path} stands for an open file; name a file of its own", param, ctx)
        return path


def out_folder(default: str) -> Callable[[Any], Any]:
    """The folder of results; the help shows ``default``."""
    return click.option(
        "--out",
        type=Named(file_okay=False, path_type=Path),
        help=f"Results folder.  [default: {default}]",
    )


class Running(NamedTuple):
    """How runs are carried out, by the options that `running` adds to a command."""

    fresh: bool
    retry_failed: bool
    keep_weights: bool
    fetch_all: bool
    offline: bool
    cluster: str | None
    wait_nodes: int
    as_json: bool
    quiet: bool

    def refuse_cluster_if(self, report_only: bool) -> None:
        if self.cluster is not None and report_only:
            raise click.UsageError("--report-only runs nothing; leave --cluster out")

    def refuse_json_if(self, dry_run: bool) -> None:
        if self.as_json and dry_run:
            raise click.UsageError("--dry-run prints text; leave --json out")

    def fetch(self, datasets: Iterable[DatasetSpec], *, dry_run: bool, real: bool = False) -> None:
        """Say what is missing of data sets, and download it unless this is a ``--dry-run``."""
        from svmbench.harness.sources import fetching

        if self.offline and self.fetch_all:
            raise click.UsageError("--fetch-all and --offline; keep one of them")
        if self.offline:
            return
        missing = fetching(datasets, everything=self.fetch_all or real)
        if not self.quiet:
            for line in missing.words:
                click.echo(line, err=True)
        if not dry_run:
            missing.fetch()

    @contextmanager
    def place(self, jobs: int = 1) -> Iterator[Place]:
        """Where runs are carried out: on this machine unless there is ``--cluster``.

        Raises ConfigError if Dask is not installed, or there is no cluster.
        """
        from svmbench.errors import ConfigError
        from svmbench.harness.place import Place

        if self.cluster is None:
            yield Place(jobs)
            return
        if jobs > 1:
            raise click.UsageError("--cluster and --jobs; a node carries out one run at a time")
        try:
            from svmbench.harness.cluster.place import DaskPlace
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] not in ("dask", "distributed"):
                raise
            raise ConfigError(
                "--cluster needs Dask, which is not installed: pip install distributed"
            ) from None
        with DaskPlace(self.cluster, self.wait_nodes) as place:
            yield place

    def asked(self, place: Place, **more: Any) -> Options:
        """What a series of sweeps is asked for; ``more`` are further fields."""
        from svmbench.harness.sweeps import Options

        return Options(
            fresh=self.fresh, retry_faults=self.retry_failed, keep_weights=self.keep_weights,
            place=place, **more,
        )  # fmt: skip


def running(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of `Running` to a command, which gets them as ``running``."""

    @wraps(command)
    def with_running(**given: Any) -> Any:
        own = {name: given.pop(name) for name in Running._fields}
        return command(running=Running(**own), **given)

    for option in (
        quiet,
        as_json,
        click.option(
            "--wait-nodes",
            metavar="N",
            default=0,
            type=click.IntRange(0),
            help="Wait for N nodes first.",
        ),
        click.option(
            "--cluster",
            metavar="ADDRESS",
            help="Execute the runs on the nodes of a Dask cluster, given by its scheduler's "
            "address or file (scheduler.json).",
        ),
        offline,
        click.option(
            "--fetch-all",
            is_flag=True,
            help="Download all data that are not on this machine, not only up to 300 MB.",
        ),
        click.option(
            "--keep-weights",
            is_flag=True,
            help="Keep the final weights of each run, for 'svmbench verify'; runs without them are "
            "rerun.",
        ),
        click.option("--retry-failed", is_flag=True, help="Rerun what failed."),
        click.option("--fresh", is_flag=True, help="Rerun everything, finished or not."),
    ):
        with_running = option(with_running)
    return with_running


class _Plain:
    """Numbers as other programs read them: Python takes 1_0 for 10."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if isinstance(value, str) and "_" in value:
            self.fail(f"{value!r} is not a number", param, ctx)  # type: ignore[attr-defined]
        converted: Any = super().convert(value, param, ctx)  # type: ignore[misc]
        if converted != converted:  # no range of click's excludes it
            self.fail("nan is not a number", param, ctx)  # type: ignore[attr-defined]
        return converted


class Number(_Plain, click.FloatRange):
    name = "number"

    def _describe_range(self) -> str:
        return "" if self.min is None and self.max is None else super()._describe_range()


class WholeRange(_Plain, click.IntRange):
    name = "whole number"


def out_file(name: str, text: str) -> Callable[[Any], Any]:
    """The file to write, as the parameter ``name``; ``text`` is its help."""
    kind = _NewFile(dir_okay=False, path_type=Path)
    return click.option("-o", "--out", name, type=kind, help=text)


def text_file(name: str) -> Callable[[Any], Any]:
    """The argument ``name``, a file of rows to read."""
    return click.argument(name, type=Named(path_type=Path))


target_column = click.option(
    "--target", metavar="COLUMN", help="The column of a table that has the classes."
)

dropped_columns = click.option(
    "--drop",
    "dropped",
    multiple=True,
    metavar="COLUMN",
    help="Leave out a column of a table. May be repeated.",
)

missing_values = click.option(
    "--missing",
    type=click.Choice(("refuse", "mean")),
    default="refuse",
    show_default=True,
    help="What a missing value of a table becomes: nothing, or the mean of its column; a missing "
    "text is then a text of its own.",
)


zero_based = click.option(
    "--zero-based", is_flag=True, help="Read indices that count from 0; the first is then 1."
)


def mark_as_own(folder: Path) -> None:
    """Mark a folder as one whose page may be written again."""
    import svmbench
    from svmbench.durable import write_text

    write_text(folder / OWN, f'{{"svmbench": "{svmbench.__version__}"}}\n')


def target(path: Path) -> Path:
    """The file to write: what a symbolic link points to, so that the link stays one."""
    from svmbench.durable import resolved

    return resolved(path) if path.is_symlink() else path


@contextmanager
def loading_numpy() -> Iterator[None]:
    """Load NumPy, and what needs it, in less processor time.

    Its BLAS starts no threads, which would wait for work; what the user has set is kept. Python
    does not look for garbage among what is loaded, now or later.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if "numpy" in sys.modules:  # there may be garbage by now
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def seconds_of(option: str, text: str) -> float:
    """Read a duration from the command line."""
    from pydantic import TypeAdapter, ValidationError

    from svmbench.config.fields import Duration

    given: str | float = text
    with suppress(ValueError):
        given = float(text) if "_" not in text else text
    try:
        found: float = TypeAdapter(Duration).validate_python(given)
    except ValidationError:
        raise click.UsageError(
            f"{option} {text!r}: write seconds, or a duration such as 90s, 30m or 2h"
        ) from None
    return found


def _completion(known: Callable[[], Iterable[str]]) -> Callable[..., list[str]]:
    """What the shell completes: the known names that begin as what was typed."""
    return lambda context, parameter, begun: [name for name in known() if name.startswith(begun)]


def _papers() -> Iterator[str]:
    """Papers and their items."""
    from svmbench.papers.model import papers

    for key, paper in papers(None).items():
        yield from (key, *(f"{key}/{item}" for item in paper.names))


solver_names = _completion(lambda: import_module("svmbench.solvers.registry").solvers())
data_names = _completion(lambda: import_module("svmbench.data.catalogue").names())
paper_names = _completion(_papers)
