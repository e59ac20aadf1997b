"""Stand-ins: seeded synthetic rows of a data set's shape, for when the set is not available.

A stand-in imitates what decides the cost and the difficulty of training: the numbers of
rows, columns and entries, the distribution of the entries over columns and rows, the
columns' scales, the balance of the classes and their overlap. If the real set's optimum or
test error is published, the shape's parameters are chosen so that the full stand-in meets it
(``targets`` in the set's description, ``scripts/calibrate.py``). It imitates nothing else,
and it is marked wherever it appears (``Provenance.stand_in``).

**Rows.** A row has n distinct columns. Under the law dense, it has all of them. Under
uniform, n is binomial and every column is equally likely. Under zipf, n is log-normal, as
in texts, and the column of rank r is drawn with probability proportional to
(r + n_mean)^-exponent; the shift stands for leaving out the commonest words, and without it
the first columns would be in every row. Columns are drawn one after another without
replacement. Ranks are assigned to columns at random. Values are ones, standard normal,
counts (geometric, from 1), or tf-idf (1 + ln of such a count, times ln(1 + 1/p) for a
column that is in a share p of the rows). Normal values have the mean ``offset``. Columns are
then multiplied by scales spread evenly over ``conditioning`` decades from ``size`` upwards, as
in data that mixes measurements with indicators, and rows are divided by their norms if
``unit_norm`` is set.

**Labels.** There are three models. In each, a fraction ``positives`` of the rows is +1, and
last of all a fraction ``noise`` of the labels is flipped, half of them in each class, which
keeps the balance.

- A plane: y = sign(w.x + b) with a normal w that gives every column the same influence
  whatever its scale. Before that, ``margin_noise`` standard deviations of random noise are
  added to the score, so that the classes overlap most near the plane.
- Topics, for texts: a document of a class draws part of its words from one of the class's
  topics (`TopicModel`), so that single columns tell the classes.
- Means, for dense columns: the means of the classes are ``distance`` apart in a random
  direction. Along it, the values are log-normal if there is a ``skew``, else normal.

**Seeds.** NumPy's PCG64 is seeded by SeedSequence from the seed, the part (columns, pilot,
train, test) and the number of the chunk of rows. The same version of NumPy gives the same
rows on every machine, up to the last bits in which processors' logarithms differ. A
stand-in at a smaller scale is the beginning of the one at a larger scale; the law of the
test rows is the same.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist
from typing import Any

import numpy as np

from svmbench.data.blocks import row_starts
from svmbench.data.catalogue import Recipe
from svmbench.data.dataset import STAND_IN, Array, Dataset, FloatArray, Provenance
from svmbench.data.shape import Shape, Topics
from svmbench.data.storage import FLOAT32_DIGITS, column_type, compact
from svmbench.errors import DataError

#: Added to the ranks of a topic's words, so that the first do not dominate.
_SHIFT = 10

#: Largest share of a document's words that come from its topic.
_LARGEST_SHARE = 0.95


@dataclass(frozen=True, eq=False)
class Documents:
    """The classes, topics and shares of some rows."""

    positive: Array
    topic: Array  # (shape (n,)) Even numbers are topics of the class -1, odd numbers of +1
    share: FloatArray  # (shape (n,)) Probability that a word comes from the topic


class TopicModel:
    """The topics of a stand-in with d columns, and documents drawn from them.

    **Topics.** Each class has ``count`` topics, and a topic has ``words`` columns of its own,
    drawn at random from all columns. Its word of rank r has a probability proportional to 1 / (r +
    10).

    **Documents.** A document belongs to one topic of its class, all of which are equally likely.
    Each of its words comes from that topic with the probability s, and else from the background,
    which is Zipf's law of all columns. A document's s is ``share`` times a log-normal number of
    mean 1 whose logarithm has the standard deviation ``spread``, but at most 0.95: a document with
    a small s is hard to classify, as a short or general one is in reality. A fraction ``vague`` of
    the documents has s = 0, so that nothing in them tells their class: they err half of the time
    at a small loss, whereas a flipped label errs at a large one.
    """

    def __init__(
        self, topics: Topics, positives: float, background: FloatArray, rng: np.random.Generator
    ) -> None:
        self._topics, self._positives = topics, positives
        d = len(background)
        words = min(topics.words, d)
        self.words = np.stack(
            [rng.choice(d, words, replace=False, shuffle=True) for _ in range(2 * topics.count)]
        )
        self.weights = 1.0 / (np.arange(words) + 1.0 + _SHIFT)
        self.weights /= self.weights.sum()
        self.background = background
        self._cumulative = np.cumsum(self.weights)
        self._cumulative_background = np.cumsum(background)

    def documents(self, rng: np.random.Generator, n: int) -> Documents:
        positive = rng.random(n) < self._positives
        topic = 2 * rng.integers(self._topics.count, size=n) + positive
        spread = self._topics.spread
        share = self._topics.share * np.exp(spread * rng.standard_normal(n) - spread**2 / 2)
        share = np.minimum(share, _LARGEST_SHARE)
        if self._topics.vague > 0.0:
            share[rng.random(n) < self._topics.vague] = 0.0
        return Documents(positive, topic, share)

    def draw(self, rng: np.random.Generator, topic: Array, share: FloatArray) -> Array:
        """Draw a column for each pair of a topic and a share."""
        of_topic = rng.random(len(topic)) < share
        uniforms = rng.random(len(topic))
        columns = np.empty(len(topic), dtype=np.int64)
        ranks = np.searchsorted(self._cumulative, uniforms[of_topic], side="right")
        columns[of_topic] = self.words[topic[of_topic], np.minimum(ranks, len(self.weights) - 1)]
        others = np.searchsorted(self._cumulative_background, uniforms[~of_topic], side="right")
        columns[~of_topic] = np.minimum(others, len(self.background) - 1)
        return columns

    def frequencies(self) -> FloatArray:
        """Probabilities of the columns over all documents."""
        topics = self._topics
        share = (1.0 - topics.vague) * min(topics.share, _LARGEST_SHARE)
        found: FloatArray = (1.0 - share) * self.background
        for number, words in enumerate(self.words):
            of_class = self._positives if number % 2 else 1.0 - self._positives
            found[words] += share * of_class / topics.count * self.weights
        return found

    def row_weights(self, documents: Documents) -> FloatArray:
        """Probabilities of the columns in every row, shape (n, d); for few columns."""
        n, d = len(documents.topic), len(self.background)
        own = np.zeros((len(self.words), d))
        np.put_along_axis(own, self.words, np.broadcast_to(self.weights, self.words.shape), axis=1)
        share = documents.share[:, np.newaxis]
        weights: FloatArray = (1.0 - share) * self.background + share * own[documents.topic]
        assert weights.shape == (n, d)
        return weights


def smallest(rng: np.random.Generator, lengths: Array, weights: FloatArray) -> Array:
    """Columns drawn without replacement, all rows at once.

    The columns of the n smallest of exponential variables divided by the weights are the
    first n of successive draws (Efraimidis and Spirakis, Information Processing Letters
    97, 2006).
    """
    d = weights.shape[-1]
    order = np.argsort(rng.standard_exponential((len(lengths), d)) / weights, axis=1)
    taken = np.zeros(order.shape, dtype=np.bool_)
    np.put_along_axis(taken, order, np.arange(d) < lengths[:, np.newaxis], axis=1)
    return np.nonzero(taken)[1]


def drawn(lengths: Array, d: int, draw: Callable[[Array], Array]) -> Array:
    """As `smallest`, by redrawing columns that a row has already; for very sparse rows.

    ``draw`` draws a column for each of the rows it is given. No more columns are drawn at once
    than are missing, so every new column is kept: a row's columns have the same law as if they
    were drawn one by one.
    """
    missing = lengths.copy()
    open_keys = np.zeros(0, dtype=np.int64)  # row * d + column, of rows not full yet
    full_keys = []
    while missing.any():
        rows = np.repeat(np.arange(len(lengths)), missing)
        keys = np.sort(rows * d + draw(rows))
        keys = keys[np.concatenate([[True], keys[1:] != keys[:-1]])]
        at = np.searchsorted(open_keys, keys)
        if len(open_keys):
            new = open_keys[np.minimum(at, len(open_keys) - 1)] != keys
            keys, at = keys[new], at[new]
        missing -= np.bincount(keys // d, minlength=len(lengths))
        open_keys = np.insert(open_keys, at, keys)
        still_open = missing[open_keys // d] > 0
        full_keys.append(open_keys[~still_open])
        open_keys = open_keys[still_open]
    return np.sort(np.concatenate(full_keys)) % d


def unit_rows(values: FloatArray, starts: Array | None) -> FloatArray:
    """Rows divided by their norms: dense ones, or sparse ones that begin at ``starts``."""
    if starts is None:
        norms: FloatArray = np.sqrt(np.square(values).sum(axis=1, keepdims=True))
    else:
        norms = np.sqrt(np.add.reduceat(np.square(values), starts[:-1]))
        norms = np.repeat(norms, np.diff(starts))
    divided: FloatArray = values / norms
    return divided


GENERATOR_VERSION = 2
"""Incremented whenever the same shape and seed give other rows, so that caches are rebuilt."""

_CHUNK_ENTRIES = 1 << 18
_CHUNK_ROWS = 1 << 14
_PILOT_ROWS = 1 << 14
_COLUMNS, _PILOT, _TRAIN, _TEST = range(4)
_LENGTH_SPREAD = 0.6  # standard deviation of the logarithm of texts' lengths
_COUNT_STOP = 0.5  # a count stops with this probability
_SPARSE_ENOUGH = 16  # d over the mean row length above which drawing beats sorting


def stand_in(
    shape: Shape, name: str, *, scale: float = 1.0, seed: int | None = None
) -> tuple[Dataset, Dataset | None]:
    """Generate the stand-in of a data set."""
    if not 0.0 < scale < math.inf:
        raise DataError(f"{name}: the stand-in's scale is {scale:g}; give a positive number")
    if shape.noise > min(shape.positives, 1.0 - shape.positives):
        raise DataError(
            f"{name}: the stand-in's noise {shape.noise:g} exceeds the share of its rarer class;"
            " lower it in the set's description"
        )
    maker = Maker(shape, shape.seed if seed is None else seed)
    train = maker.rows(_TRAIN, shape.m, name, scale)
    if not shape.m_test:
        return train, None
    return train, maker.rows(_TEST, shape.m_test, f"{name}.t", scale)


@dataclass(frozen=True, eq=False)
class _Chunk:
    """Some rows: dense values of shape (rows, d), or sparse rows; values is None for ones."""

    starts: Array | None
    columns: Array | None
    values: Array | None
    normals: FloatArray
    uniforms: FloatArray
    positive: Array | None = None

    def scores(self, w: FloatArray) -> FloatArray:
        """w.x of every row."""
        if self.starts is None or self.columns is None:
            assert self.values is not None
            # Not by BLAS: its sums differ from machine to machine.
            scores: FloatArray = np.einsum("ij,j->i", self.values.astype(np.float64), w)
            return scores
        products = w[self.columns]
        if self.values is not None:
            products *= self.values
        sums: FloatArray = np.add.reduceat(products, self.starts[:-1])
        return sums


class Maker:
    """The generator of one shape and seed."""

    def __init__(self, shape: Shape, seed: int) -> None:
        self.shape = shape
        self.seed = seed
        self.mean_length = shape.fraction * shape.d
        self.by_sorting = shape.d <= _SPARSE_ENOUGH * self.mean_length
        # Half of the columns if they are drawn: drawing the last ones would take for ever.
        self.longest = shape.d if self.by_sorting else max(1, shape.d // 2)
        self.log_length = self._log_length()
        work = shape.d if self.by_sorting else self.mean_length
        self.chunk_rows = int(min(max(_CHUNK_ENTRIES // work, 1), _CHUNK_ROWS))
        rng = self._stream(_COLUMNS)
        self.weights = self._column_weights(rng)
        self.cumulative = np.cumsum(self.weights)
        self.cumulative /= self.cumulative[-1]
        self.scales = rng.permutation(np.logspace(0.0, shape.conditioning, shape.d))
        self.w = rng.standard_normal(shape.d) / self.scales
        self.topics = None
        if shape.topics is not None:
            self.topics = TopicModel(shape.topics, shape.positives, self.weights, rng)
        self.direction = rng.standard_normal(shape.d) if shape.means else np.zeros(0)
        self.direction /= max(float(np.linalg.norm(self.direction)), 1.0)
        frequencies = self.weights if self.topics is None else self.topics.frequencies()
        share = -np.expm1(-self.mean_length * frequencies)
        self.rarity = np.log1p(1.0 / np.maximum(share, 1e-12))

    def _stream(self, part: int, chunk: int = 0, use: int = 0) -> np.random.Generator:
        entropy = [GENERATOR_VERSION, self.seed, part, chunk, use]
        return np.random.Generator(np.random.PCG64(np.random.SeedSequence(entropy)))

    def _column_weights(self, rng: np.random.Generator) -> FloatArray:
        d, columns = self.shape.d, self.shape.columns
        weights: Array = np.ones(d)
        if columns.law == "zipf":
            weights = 1.0 / (np.arange(1, d + 1) + self.mean_length) ** columns.exponent
        weights = rng.permutation(weights)
        normalised: FloatArray = weights / weights.sum()
        return normalised

    @cached_property
    def plane(self) -> tuple[float, float]:
        """What is added to w.x to have the wanted share of positives, and the deviation of w.x."""
        p = self.shape.positives
        # About a thousand rows of the rarer class, so that its share is right to a few per cent.
        wanted = 1000 / max(min(p, 1.0 - p), 1e-9)
        rows = int(min(max(wanted, _PILOT_ROWS), 16 * _PILOT_ROWS))
        scores = np.concatenate([chunk.scores(self.w) for _, chunk in self._chunks(_PILOT, rows)])
        spread = float(scores.std())
        noise = self._stream(_PILOT, 0, 2).standard_normal(len(scores))
        noisy = scores + self.shape.margin_noise * spread * noise
        if not 0.0 < p < 1.0:
            return math.copysign(math.inf, p - 0.5), spread
        return -float(np.quantile(noisy, 1.0 - p)), spread

    def rows(self, part: int, published: int, name: str, scale: float) -> Dataset:
        """The first rows of a part, with their labels; that share of the published number."""
        shape, m = self.shape, max(1, round(published * scale))
        labels = np.empty(m, dtype=np.int8)
        dense = shape.columns.law == "dense"
        indptr: Array | None = None if dense else self._indptr(part, m)
        size: tuple[int, ...] = (m, shape.d) if indptr is None else (int(indptr[-1]),)
        indices: Array | None = None
        if indptr is not None:
            indices = np.empty(size, dtype=column_type(shape.d))
        values: Array | None = (
            None if self._all_ones and not dense else np.empty(size, dtype=np.float32)
        )
        for rows, chunk in self._chunks(part, m):
            at = rows if indptr is None else slice(indptr[rows.start], indptr[rows.stop])
            if indices is not None:
                indices[at] = chunk.columns
            if values is not None:
                values[at] = chunk.values
            labels[rows] = self._labels(chunk)
        provenance = self._provenance(part, scale)
        if indptr is not None and indices is not None and values is not None:
            sparse_bytes = indptr.nbytes + indices.nbytes + values.nbytes
            if m * shape.d * values.itemsize < sparse_bytes:
                indptr, indices, values = compact(
                    indptr, indices, values, shape.d, FLOAT32_DIGITS + 1
                )
        return Dataset(name, shape.d, indptr, indices, values, labels, provenance)

    @property
    def _all_ones(self) -> bool:
        plain = not self.shape.unit_norm and self.shape.conditioning == 0.0 == self.shape.size - 1.0
        return self.shape.values.kind == "ones" and plain

    def _provenance(self, part: int, scale: float) -> Provenance:
        shape = self.shape.model_dump(mode="json", exclude_defaults=True)
        settings: dict[str, Any] = {
            "generator": GENERATOR_VERSION,
            "seed": self.seed,
            "scale": scale,
            "shape": shape,
        }
        source = f"{STAND_IN}{json.dumps(settings, sort_keys=True)}"
        digest = hashlib.sha256(f"{source} {part}".encode()).hexdigest()
        return Provenance(source=source, sha256=digest, stand_in=True)

    # --- lengths of rows ---

    def _lengths(self, part: int, chunk: int) -> Array:
        rng = self._stream(part, chunk, 0)
        if self.shape.columns.law == "uniform":
            lengths = rng.binomial(self.shape.d, self.shape.fraction, self.chunk_rows)
        else:
            deviates = rng.standard_normal(self.chunk_rows)
            lengths = np.rint(np.exp(self.log_length + _LENGTH_SPREAD * deviates))
        return np.clip(lengths, 1, self.longest).astype(np.int64)

    def _log_length(self) -> float:
        """Mean logarithm of texts' lengths that gives the wanted mean of the clipped lengths."""
        grid = [NormalDist().inv_cdf((i + 0.5) / 1000) for i in range(1000)]
        deviates = _LENGTH_SPREAD * np.array(grid)
        low, high = -1.0, math.log(self.longest) + 3.0
        for _ in range(60):
            middle = (low + high) / 2
            if np.clip(np.exp(middle + deviates), 1, self.longest).mean() < self.mean_length:
                low = middle
            else:
                high = middle
        return low

    def _indptr(self, part: int, m: int) -> Array:
        lengths = np.empty(m, dtype=np.int64)
        for chunk, rows in enumerate(self._chunk_slices(m)):
            lengths[rows] = self._lengths(part, chunk)[: rows.stop - rows.start]
        return row_starts(lengths)

    def _chunk_slices(self, m: int) -> Iterator[slice]:
        for start in range(0, m, self.chunk_rows):
            yield slice(start, min(start + self.chunk_rows, m))

    # --- rows ---

    def _chunks(self, part: int, m: int) -> Iterator[tuple[slice, _Chunk]]:
        """Chunks of rows, generated whole and then cut, so that values do not depend on m."""
        for number, rows in enumerate(self._chunk_slices(m)):
            chunk = self.chunk(part, number)
            n = rows.stop - rows.start
            if chunk.starts is None or chunk.columns is None:
                assert chunk.values is not None
                starts = columns = None
                values: Array | None = chunk.values[:n]
            else:
                starts = chunk.starts[: n + 1]
                columns = chunk.columns[: starts[-1]]
                values = None if chunk.values is None else chunk.values[: starts[-1]]
            positive = None if chunk.positive is None else chunk.positive[:n]
            yield (
                rows,
                _Chunk(starts, columns, values, chunk.normals[:n], chunk.uniforms[:n], positive),
            )

    def chunk(self, part: int = _TRAIN, number: int = 0) -> _Chunk:
        """Generate a chunk of `chunk_rows` rows of a part."""
        rng = self._stream(part, number, 1)
        starts = columns = positive = None
        if self.shape.columns.law == "dense":
            values = self._values(rng, (self.chunk_rows, self.shape.d), None)
            if self.shape.means is not None:
                positive = self._stream(part, number, 3).random(len(values)) < self.shape.positives
                self._move_apart(rng, values, positive)
            values *= self.shape.size
        else:
            lengths = self._lengths(part, number)
            starts = row_starts(lengths)
            documents = None
            if self.topics is not None:
                documents = self.topics.documents(self._stream(part, number, 3), len(lengths))
                positive = documents.positive
            columns = self._columns(rng, lengths, documents)
            values = self._values(rng, (len(columns),), columns)
            values *= self.shape.size
        if self.shape.unit_norm:
            values = unit_rows(values, starts)
        single = None if self._all_ones and starts is not None else values.astype(np.float32)
        normals = rng.standard_normal(self.chunk_rows)
        return _Chunk(starts, columns, single, normals, rng.random(self.chunk_rows), positive)

    def _move_apart(self, rng: np.random.Generator, values: FloatArray, positive: Array) -> None:
        """Give the classes their means, and the rows their skew along the line through them."""
        means = self.shape.means
        assert means is not None
        along = means.distance * (positive - self.shape.positives)
        if means.skew > 0.0:
            # A log-normal variable of mean 0 and variance 1 in place of a normal one.
            drawn = np.exp(means.skew * rng.standard_normal(len(values)))
            mean = math.exp(means.skew**2 / 2)
            deviation = mean * math.sqrt(math.expm1(means.skew**2))
            along += (drawn - mean) / deviation - np.einsum("ij,j->i", values, self.direction)
        values += along[:, np.newaxis] * self.direction

    def _columns(
        self, rng: np.random.Generator, lengths: Array, documents: Documents | None
    ) -> Array:
        """Distinct columns of every row, ascending, one row after another."""
        topics = self.topics
        if self.by_sorting:
            if topics is None or documents is None:
                return smallest(rng, lengths, self.weights)
            return smallest(rng, lengths, topics.row_weights(documents))

        def draw(rows: Array) -> Array:
            if topics is None or documents is None:
                columns = np.searchsorted(self.cumulative, rng.random(len(rows)), side="right")
                return np.minimum(columns, self.shape.d - 1)
            return topics.draw(rng, documents.topic[rows], documents.share[rows])

        return drawn(lengths, self.shape.d, draw)

    def _values(
        self, rng: np.random.Generator, size: tuple[int, ...], columns: Array | None
    ) -> FloatArray:
        every: Any = slice(None) if columns is None else columns
        kind = self.shape.values.kind
        if kind == "ones":
            values = np.ones(size)
        elif kind == "normal":
            values = rng.standard_normal(size)
            if self.shape.offset:
                values += self.shape.offset
        else:
            values = rng.geometric(_COUNT_STOP, size).astype(np.float64)
            if kind == "tfidf":
                values = (1.0 + np.log(values)) * self.rarity[every]
        if self.shape.conditioning:
            values *= self.scales[every]
        return values

    def _labels(self, chunk: _Chunk) -> Array:
        positive = chunk.positive
        if positive is None:
            b, spread = self.plane
            scores = chunk.scores(self.w) + self.shape.margin_noise * spread * chunk.normals
            positive = scores + b > 0.0
        p, noise = self.shape.positives, self.shape.noise
        if noise > 0.0:
            share = np.where(positive, noise / (2 * p), noise / (2 - 2 * p))
            positive = positive ^ (chunk.uniforms < share)
        return np.where(positive, 1, -1).astype(np.int8)


#: Part of the identity of drawn rows; raised whenever a recipe would give other numbers.
RECIPES_VERSION = 1


def draw(recipe: Recipe, name: str) -> tuple[Dataset, Dataset]:
    """The rows of a simulated set itself, drawn again exactly as their author drew them.

    NumPy's legacy generator gives the same numbers in every version of NumPy.
    """
    state = np.random.RandomState(recipe.seed)
    x = state.randn(recipe.m, recipe.d)
    beta = state.randn(recipe.d)
    # Not by BLAS: its sums differ from machine to machine.
    scores = np.einsum("ij,j->i", x, beta) + recipe.noise * state.randn(recipe.m)
    labels = np.where(scores >= 0.0, 1, -1).astype(np.int8)
    x = _standardised(x)
    order = np.random.RandomState(recipe.split_seed).permutation(recipe.m)
    n_test = math.ceil(recipe.test * recipe.m)
    settings = json.dumps(
        {"recipe": RECIPES_VERSION, **recipe.model_dump(mode="json")}, sort_keys=True
    )
    parts = []
    for part, rows in ((name, order[n_test:]), (f"{name}.t", order[:n_test])):
        digest = hashlib.sha256(f"{settings} {part}".encode()).hexdigest()
        provenance = Provenance(source=f"drawn {settings}", sha256=digest)
        parts.append(
            Dataset(part, recipe.d, None, None, x[rows].copy(), labels[rows].copy(), provenance)
        )
    return parts[0], parts[1]


def _standardised(x: FloatArray) -> FloatArray:
    """Columns with mean 0 and variance 1 over all rows."""
    centred = x - x.mean(axis=0)
    scaled: FloatArray = centred / np.sqrt(np.mean(centred**2, axis=0))
    return scaled
