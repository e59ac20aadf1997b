"""Proved bounds on the regret of online methods."""

from __future__ import annotations

import math

from svmbench.problem import Problem


def logarithmic_bound(problem: Problem, steps: int, in_ball: bool = False) -> float:
    """The bound c (1 + ln T)/(2 lam) on the regret of steps 1/(lam t) with the hinge loss.

    sqrt(c) bounds the norm of the subgradients lam w - [..] y x. With R the largest ||x||, it is

        lam z + R       where w is confined to ||w||_1 <= z, since ||w|| <= ||w||_1
        sqrt(lam) + R   with the projection on the ball ||w|| <= 1/sqrt(lam)
        2 R             without a constraint, since w is a mean of vectors y x / lam

    Shalev-Shwartz, Singer, Srebro and Cotter, Math. Prog. B 127 (2011), lemma 1 and theorem 1,
    prove the last two. Their lemma holds for any convex set, which gives the first.
    """
    longest = math.sqrt(float(problem.data.rows.norms2().max()))
    if problem.constraint == "l1":
        size = problem.lam * problem.l1_radius
    else:
        size = math.sqrt(problem.lam) if in_ball else longest
    return (size + longest) ** 2 * (1.0 + math.log(steps)) / (2.0 * problem.lam)
