"""``python -m svmbench``: the command line."""

from svmbench.cli import main

# Workers are spawned and import this module under another name.
if __name__ == "__main__":
    main(prog_name="svmbench")
