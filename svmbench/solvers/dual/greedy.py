"""What passes of dual descent do beyond one visit to each row: see docs/champion-evidence.md."""

#: Rows are visited again whose step gained more per entry than so many times what the last pass
#: gained.
HIGH_GAIN = 3.0

#: Rows at a bound are also shrunk where their gradient points outwards by more than so many times
#: the mean projected gradient of the last pass, which is far less than its extremes.
TYPICAL = 2.0
