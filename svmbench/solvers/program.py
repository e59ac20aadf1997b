"""Any program as a solver: a command line that reads rows from a file and writes a model to one."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import shlex
import shutil
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any, Literal, NamedTuple

import numpy as np
from pydantic import ValidationInfo, field_validator, model_validator

from svmbench.data.dataset import FloatArray
from svmbench.errors import ConfigError, DataError, InterruptedRunError
from svmbench.kernels.counters import Counters
from svmbench.names import BIASES, LOSSES
from svmbench.problem import Problem
from svmbench.solvers import program_files
from svmbench.solvers.base import Parameters, Solver, parameter
from svmbench.solvers.execution import Execution, execute
from svmbench.solvers.program_files import read_weights, write_rows
from svmbench.solvers.work_folder import WorkFolder, remove_abandoned, writing_rows

#: Names that a command may contain in braces.
PLACEHOLDERS = (
    "data", "model", "C", "half_C", "lambda", "m", "seed", "tolerance", "passes",
)  # fmt: skip

#: Runs of the command that only reads the rows.
READINGS = 3

#: Errors of a system that has not enough processes, open files or memory left.
_SCARCE = (errno.EAGAIN, errno.EMFILE, errno.ENFILE, errno.ENOMEM)

_NAME = re.compile(r"\{(\w+)\}")


class ProgramParameters(Parameters):
    command: tuple[str, ...] = parameter(
        ...,
        "The program and its arguments, with {data} and {model} for the names of the files, and "
        "{C}, {half_C}, {lambda}, {m}, {seed}, {tolerance} or {passes}. No shell reads it.",
        source="ours",
    )
    model: Literal["liblinear", "vw", "text", "npz"] = parameter(
        ...,
        "Format of its model: LIBLINEAR's, VW's readable one, a weight per line, or NumPy's npz.",
        source="ours",
    )
    data: Literal["libsvm", "vw"] | None = parameter(
        None, "Format of the rows; vw for a model of that format, else libsvm.", source="ours"
    )
    ladder: tuple[float, ...] = parameter(
        (),
        "Values of {tolerance} or {passes} from the cheapest to the most expensive, up to the "
        "first that reaches the tightest accuracy.",
        source="ours",
    )
    reading: tuple[str, ...] | None = parameter(
        None,
        "A command that reads the rows without training; its time is subtracted if it is at most "
        "half of the program's. Else times include reading.",
        source="ours",
    )
    count: str | None = parameter(
        None,
        "Regular expression with a group: the number of passes in the program's output. One pass "
        "is counted where neither it nor {passes} is given.",
        source="ours",
    )
    tolerance: float | None = parameter(
        None, "Value of {tolerance} or {passes}; the ladder's unless given.", source="ours", gt=0.0
    )

    @field_validator("command", "reading", mode="before")
    @classmethod
    def _words(cls, value: Any, info: ValidationInfo) -> Any:
        if isinstance(value, str):
            try:
                value = tuple(shlex.split(value))
            except ValueError as error:
                raise ValueError(f"Input should be a command line ({error})") from None
        if isinstance(value, list | tuple) and all(isinstance(word, str) for word in value):
            return _resolved(tuple(value), (info.context or {}).get("folder"))
        return value

    @field_validator("command", "reading")
    @classmethod
    def _complete(
        cls, words: tuple[str, ...] | None, info: ValidationInfo
    ) -> tuple[str, ...] | None:
        if words is None:
            return None
        names = placeholders(words)
        for name in names:
            if name not in PLACEHOLDERS:
                raise ValueError(f"unknown {{{name}}}; known: {', '.join(PLACEHOLDERS)}")
        for name in ("data", "model") if info.field_name == "command" else ("data",):
            if name not in names:
                raise ValueError(f"no {{{name}}} in the command; say where that file's name goes")
        if info.field_name == "reading" and "model" in names:
            raise ValueError("{model} in a command that only reads; let it write to /dev/null")
        return words

    @field_validator("ladder")
    @classmethod
    def _climbs(cls, ladder: tuple[float, ...]) -> tuple[float, ...]:
        if not all(0.0 < value < float("inf") for value in ladder) or len(set(ladder)) < len(
            ladder
        ):
            raise ValueError("a ladder has different numbers above 0")
        return ladder

    @field_validator("count")
    @classmethod
    def _counts(cls, pattern: str | None) -> str | None:
        try:
            valid = pattern is None or re.compile(pattern).groups == 1
        except re.error as error:
            raise ValueError(f"no regular expression ({error})") from None
        if not valid:
            raise ValueError("count needs one group, such as 'iter = ([0-9]+)'")
        return pattern

    @model_validator(mode="after")
    def _asked(self) -> ProgramParameters:
        varied = {"tolerance", "passes"} & set(placeholders(self.command))
        given = bool(self.ladder) or self.tolerance is not None
        if varied and not given:
            raise ValueError(f"{{{min(varied)}}} needs a ladder, such as ladder: [1, 0.1, 0.01]")
        if given and not varied:
            raise ValueError("a ladder needs {tolerance} or {passes} in the command")
        return self


class ProgramTime(NamedTuple):
    """Nanoseconds of a training."""

    wall: int
    cpu: int  # processor time of the program
    # processor time that counts for nothing: the program's when it only read the rows, and that
    # which reading its output took this process
    aside: int


class ForeignProgram(Solver):
    """A program that reads the rows from a file and writes a model to another."""

    name = "program"
    summary = "A command line of the user's own"
    source = "the configuration's command"
    losses = LOSSES
    biases = BIASES
    step = "iteration"
    ladder = True
    foreign = True
    horizon: Literal["none", "steps", "accuracy"] = "accuracy"
    horizon_parameter = "tolerance"
    schema = ProgramParameters

    def __init__(self, parameters: Parameters | None = None) -> None:
        super().__init__(parameters)
        if not self.parameters.ladder and self.parameters.tolerance is None:
            self.horizon = "none"
        # when it is killed, which the harness sets; and what the last training took, which counts
        # in place of the time of `advance`
        self.seconds: float | None = None
        self.spent: ProgramTime | None = None
        self._reading: tuple[int, int] | None = None  # wall, cpu
        self._remark = ""

    @classmethod
    def build_with(cls, parameters: Any) -> dict[str, Any]:
        """The build, and the hashes of the program and of all files that its command names."""
        return cls.build() | {"files": cls.files_of(parameters)}

    @staticmethod
    def files_of(parameters: Any) -> dict[str, str]:
        """The hashes of the program and of all files that its command names, as they are now.

        Raises ConfigError if one of them cannot be read.
        """
        words = [*parameters.command, *(parameters.reading or ())]
        first = (0, len(parameters.command))
        files = {word: _hash(_found(word, at in first)) for at, word in enumerate(words)}
        return {word: known for word, known in files.items() if known}

    @classmethod
    def _source_files(cls) -> list[Path]:
        """Also the module that writes rows and reads models, which has no class."""
        return sorted({*super()._source_files(), Path(program_files.__file__)})

    def horizons(self, accuracy: tuple[float, ...], max_epochs: float | None) -> tuple[float, ...]:
        """The ladder."""
        return tuple(self.parameters.ladder)

    def convert(self, problem: Problem) -> None:
        form = self.parameters.data or ("vw" if self.parameters.model == "vw" else "libsvm")
        with writing_rows():
            remove_abandoned()
            # numpy.savez appends .npz to any other name.
            self._folder = WorkFolder(".npz" if self.parameters.model == "npz" else "")
            write_rows(self._folder.data, problem.data, form)
        self._problem = problem

    def take_over(self, other: Solver) -> bool:
        """Use the file that another run of the ladder has written."""
        assert isinstance(other, ForeignProgram)
        self._folder, self._problem = other._folder, other._problem
        self._reading = other._reading
        return True

    def start(self, problem: Problem, seed: int) -> None:
        if getattr(self, "_problem", None) is not problem:
            self.convert(problem)
        self.counters = Counters()
        self._seed = seed
        self._w, self._bias = np.zeros(problem.data.n_features), 0.0
        self._trained = False

    def advance(self, steps: int) -> None:
        if steps <= 0 or self._trained:
            return
        aside = 0
        if self.parameters.reading is not None and self._reading is None:
            self._reading, aside = self._read()
        reading, reading_cpu = self._reading or (0, 0)
        limit = None if self.seconds is None else self.seconds + reading / 1e9
        done = self._run(self.parameters.command, limit)
        parts = f"less {reading / 1e9:.3g} s for reading" if reading else "reading included"
        if 2 * reading > done.wall:
            parts = f"reading included: {reading / 1e9:.3g} s are more than half of it"
            reading = reading_cpu = 0
        wall, cpu = done.wall - reading, max(done.cpu - reading_cpu, 0)
        aside += done.cpu - cpu + done.reading
        if done.late:
            self.spent = ProgramTime(max(wall, int((self.seconds or 0.0) * 1e9)), cpu, aside)
            return
        self.spent = ProgramTime(wall, cpu, aside)
        self._trained = True
        self._w, self._bias = read_weights(
            self._folder.model, self.parameters.model, self._problem.data.n_features
        )
        if self._problem.bias == "none" and self._bias != 0.0:
            raise DataError(
                f"the model has a bias, {self._bias:g}, and the problem has none; switch it off, "
                "or set bias: free"
            )
        self._count(done.said)
        self._remark = f"the program took {done.wall / 1e9:.3g} s, {parts}"

    @property
    def w(self) -> FloatArray:
        return self._w.copy()

    @property
    def bias(self) -> float:
        return self._bias

    @property
    def stopped(self) -> bool | None:
        """Whether the program has ended by itself."""
        return self._trained

    @property
    def exhausted(self) -> bool:
        """Whether the program has ended and there is no ladder to climb."""
        return self._trained and self.horizon == "none"

    @property
    def remark(self) -> str:
        """What the program took, and whether that includes reading the rows."""
        return self._remark

    def _run(self, words: tuple[str, ...], limit: float | None) -> Execution:
        self._folder.clear()
        filled = [_NAME.sub(lambda name: self._value(name[1]), word) for word in words]
        try:
            done = execute(filled, limit)
        except OSError as error:
            remedy = "; install it, or give its path" * (error.errno == errno.ENOENT)
            said = f"{filled[0]}: cannot be started ({error.strerror}){remedy}"
            raise (InterruptedRunError if error.errno in _SCARCE else DataError)(said) from None
        if done.code != 0 and not done.late:
            ended = f"exit code {done.code}" if done.code > 0 else f"signal {-done.code}"
            said = done.last_line[-300:] or "it printed nothing"
            raise DataError(f"{Path(filled[0]).name} ended with {ended}: {said}")
        return done

    def _read(self) -> tuple[tuple[int, int], int]:
        """Wall and processor time of reading, as medians; and all processor time that it took."""
        runs = [self._run(self.parameters.reading, self.seconds) for _ in range(READINGS)]
        if any(run.late for run in runs):
            raise DataError("the command for reading did not end within the time limit")
        found = int(median(run.wall for run in runs)), int(median(run.cpu for run in runs))
        return found, sum(run.cpu + run.reading for run in runs)

    def _value(self, name: str) -> str:
        if name not in PLACEHOLDERS:
            return f"{{{name}}}"
        problem = self._problem
        m = problem.data.n_samples
        rung = self.parameters.tolerance or (*self.parameters.ladder, 1.0)[0]
        values = {
            "data": self._folder.data,
            "model": self._folder.model,
            "C": 1.0 / (problem.lam * m),
            "half_C": 0.5 / (problem.lam * m),
            "lambda": problem.lam,
            "m": m,
            "seed": self._seed % 2**31,
            "tolerance": rung,
            "passes": max(1, round(rung)),
        }
        return str(values[name])

    def _count(self, said: str) -> None:
        passes = 1
        if "passes" in placeholders(self.parameters.command):
            passes = int(self._value("passes"))
        elif self.parameters.count is not None:
            found = re.findall(self.parameters.count, said)
            if not found or not found[-1].isdecimal():
                raise DataError(f"the program printed nothing that matches {self.parameters.count}")
            passes = max(1, int(found[-1][:15]))
        data = self._problem.data
        self.counters.presentations = self.counters.updates = passes * data.n_samples
        self.counters.nonzeros = passes * data.nnz


def placeholders(words: tuple[str, ...]) -> list[str]:
    """The names in braces of a command, each once."""
    return list(dict.fromkeys(name for word in words for name in _NAME.findall(word)))


def _resolved(words: tuple[str, ...], folder: Path | None) -> tuple[str, ...]:
    """The command with files beside the configuration by their whole names."""
    if folder is None:
        return words
    return tuple(
        str((folder / word).absolute())
        if (at > 0 or os.sep in word) and _is_file(folder / word)
        else word
        for at, word in enumerate(words)
    )


def _found(word: str, is_program: bool) -> Path | None:
    """The file that a word of a command names."""
    place = shutil.which(word) if is_program else word
    return Path(place) if place and _is_file(place) else None


def _is_file(place: Path | str) -> bool:
    """Whether there is such a file; any word may be asked for, however long."""
    return os.path.isfile(place)  # noqa: PTH113 (Path.is_file raises errors)


def _hash(path: Path | None) -> str | None:
    if path is None:
        return None
    try:
        known = path.stat()
        return _digest(path, known.st_mtime_ns, known.st_size)
    except OSError as error:
        raise ConfigError(
            f"{path}: cannot be read ({error.strerror}), and its hash is part of a run's identity; "
            "allow reading it"
        ) from None


@cache
def _digest(path: Path, modified: int, size: int) -> str:
    """The hash of a file, which is read again when its time of modification or size differs."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
