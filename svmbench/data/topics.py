"""Topics: what makes the documents of a text stand-in's two classes differ.

**Topics.** Each class has ``count`` topics, and a topic has ``words`` columns of its own, drawn at
random from all columns. Its word of rank r has a probability proportional to 1 / (r + 10).

**Documents.** A document belongs to one topic of its class, all of which are equally likely. Each
of its words comes from that topic with the probability s, and else from the background, which is
Zipf's law of all columns. A document's s is ``share`` times a log-normal number of mean 1 whose
logarithm has the standard deviation ``spread``, but at most 0.95: a document with a small s is hard
to classify, as a short or general one is in reality. A fraction ``vague`` of the documents has
s = 0, so that nothing in them tells their class: they err half of the time at a small loss, whereas
a flipped label errs at a large one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from svmbench.data.dataset import Array, FloatArray
from svmbench.data.shape import Topics

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
    """The topics of a stand-in with d columns, and documents drawn from them."""

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
