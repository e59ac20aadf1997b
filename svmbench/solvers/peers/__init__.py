"""Programs that people use, trained through the same contract."""
