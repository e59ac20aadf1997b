"""From a sweep to finished runs: plan, workers, traces and the results folder."""
