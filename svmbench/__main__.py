"""``python -m svmbench``: the command line."""

import sys

# Workers are spawned and import this module under another name.
if __name__ == "__main__":
    # `python -m` searches the current folder first, and would execute a file such as numpy.py in
    # it. In place of this file it executes svmbench.py there; only `python -P -m` prevents that.
    if not sys.flags.safe_path:
        del sys.path[0]
    from svmbench.cli import main

    main(prog_name="svmbench")
