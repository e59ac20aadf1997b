"""``svmbench`` and ``python -m svmbench``: the command line."""

import atexit
import gc
import os
import sys

_INTERRUPTED = 130


def main(prog_name: str | None = None) -> None:
    """Run the command line of this process.

    Until it is loaded, which takes tenths of a second, such signals end the process at once:
    nothing has been written, and an import that an exception leaves would show a traceback.
    """
    import signal  # not before the search path is mended, below

    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and (name != "SIGHUP" or signal.getsignal(number) is signal.SIG_DFL):
            signal.signal(number, _end)
    code: list[int] = []
    if atexit._ncallbacks() == 0:  # what is registered first is called last
        atexit.register(_end_intact, code)
    gc.disable()  # nothing that is loaded is garbage
    from svmbench.cli import main as command_line

    gc.freeze()
    gc.enable()
    try:
        command_line(prog_name=prog_name)
    except SystemExit as ended:
        if isinstance(ended.code, int):
            code.append(ended.code)
        raise


def _end(*_: object) -> None:
    try:
        os.write(2, b"svmbench: interrupted\n")
    finally:  # also where standard error is closed or full
        os._exit(_INTERRUPTED)


def _end_intact(code: list[int]) -> None:
    """End a process that has nothing left to do, without taking its modules apart.

    That would take as long as many a training, and the system does it at once. Where a stream
    cannot be flushed, the interpreter goes on and says so.
    """
    if not code:
        return
    for stream in (sys.stdout, sys.stderr):
        if stream is not None and not stream.closed:
            try:
                stream.flush()
            except OSError:
                return
    os._exit(code[0])


# Workers are spawned and import this module under another name.
if __name__ == "__main__":
    # `python -m` searches the current folder first, and would execute a file such as numpy.py in
    # it. In place of this file it executes svmbench.py there; only `python -P -m` prevents that.
    if not sys.flags.safe_path:
        del sys.path[0]
    main("svmbench")
