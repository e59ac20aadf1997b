"""Simulated sets, drawn again exactly as their authors drew them.

A recipe gives the rows of the set itself, unlike a stand-in, which only has its shape. NumPy's
legacy generator gives the same numbers in every version of NumPy.
"""

from __future__ import annotations

import hashlib
import json
import math

import numpy as np

from svmbench.data.catalogue import Recipe
from svmbench.data.dataset import Dataset, FloatArray, Provenance

#: Part of the identity of drawn rows; raised whenever a recipe would give other numbers.
RECIPES_VERSION = 1


def draw(recipe: Recipe, name: str) -> tuple[Dataset, Dataset]:
    """Draw the training and test rows of a set."""
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
