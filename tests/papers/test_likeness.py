"""On which stand-ins a claim is tested, and what its verdict rests on."""

import json

import pytest
from claims_support import both_of, claim, found, noisy, row

from svmbench.claims.judge import judge_claims
from svmbench.data.catalogue import entry
from svmbench.papers.likeness import likenesses
from svmbench.papers.model import Item

ITEM = {
    "version": 1, "number": "Table 1", "order": 1, "title": "t", "question": "q",
    "published": [
        {"source": "s", "mark": "read", "values": [
            {"dataset": "set", "solver": "a", "measure": {"epochs": 0.01}, "value": 10}]}
    ],
}  # fmt: skip


def likeness(name="w8a", *, scale=1.0, passes=10.0, lam=1e-3, primal=0.3, loss="hinge"):
    data = {
        "dataset": "set", "stand_in": True, "lam": lam, "loss": loss, "reference_primal": primal,
        "data_source": f"stand-in {json.dumps({'scale': scale})}", "epochs_to_0.01": passes,
    }  # fmt: skip
    rows = [row("a", noisy(), **data)]
    return likenesses(Item.model_validate(ITEM), rows, {("base", "set"): name})["set"]


COST = claim()
VALUE = claim("reaches", solvers=["a"], measure="optimal_J", at_most=1.0, at_least=0.5)


@pytest.mark.parametrize("passes", [7.0, 10.0, 14.9])
def test_a_full_stand_in_with_the_published_figures_is_like_its_set(passes):
    found = likeness(passes=passes)
    assert found.words == ""
    assert found.counted == f"passes {passes / 10:.2g} to {passes / 10:.2g} times the published"


@pytest.mark.parametrize("passes", [6.0, 15.1])
def test_a_cost_is_not_claimed_where_passes_are_not_the_published_ones(passes):
    found = likeness(passes=passes)
    assert "times the published passes" in found.against(COST)
    assert found.against(VALUE) == ""


def test_fewer_rows_are_like_the_set_only_with_its_optimum_at_the_same_lambda():
    (target,) = [each for each in entry("w8a").targets if each.primal]
    close = {"scale": 0.5, "lam": target.lam}
    assert likeness(**close, primal=1.019 * target.primal).words == ""
    assert likeness(**close, primal=1.03 * target.primal).against(VALUE) == "P* differs by +3 %"
    assert likeness(scale=0.5, lam=2 * target.lam).against(VALUE) == "it has only 1,000 rows"
    other = likeness(**close, primal=target.primal, loss="squared-hinge")
    assert other.against(VALUE) == "it has only 1,000 rows"


def test_without_a_published_figure_nothing_is_known():
    assert likeness("reuters21578").against(VALUE) == "no published figure shows that it is"
    assert "severe conditioning" in likeness("alpha").against(VALUE)


def test_a_case_on_another_set_is_not_testable_and_asks_nothing():
    rows = [*both_of("adult"), *both_of("set", stand_in=True)]
    asked = []

    def unlike(_claim, dataset):
        asked.append(dataset)
        return "its columns have one scale"

    ((result,),) = judge_claims([([claim()], rows)], unlike=[unlike])
    real, other = result.cases
    assert (real.verdict, other.verdict) == ("holds", "not testable")
    assert other.text == "not like the set: its columns have one scale"
    assert asked == ["set"]
    assert result.firm
    ((alone,),) = judge_claims([([claim()], rows[2:])], unlike=[unlike])
    assert (alone.verdict, alone.firm) == ("not testable", False)


def test_what_a_verdict_rests_on():
    assert found(claim(), *both_of("adult")).basis == ["real data"]
    stand_in = found(claim(), *both_of("adult", stand_in=True))
    assert stand_in.basis == ["stand-ins"]
    some = found(claim(), *both_of("adult"), *both_of("set", stand_in=True))
    assert some.basis == ["1 of 2 cases on stand-ins"]
    lost = found(claim(rests_on=["setting"]), *both_of("adult"))
    assert lost.basis == ["real data", "a setting that is lost"]
    assert [each.firm for each in (stand_in, some, lost)] == [False] * 3
