#!/usr/bin/env python3
"""Reference vectors through a router and workers, all of which it starts and ends.

usage: routed.py BIN WEIGHTS MESH [FLAG ...] FILE ...

BIN: the folder of burn-server, burn-router and burn-conformance. WEIGHTS: of the workers, one for each: "1,2,1". MESH: as
the router's --mesh has it: "data=3". Flags are for burn-conformance. The vectors of $BURN_VECTORS_DIR, else of ../shared/vectors, are added if that folder is there.
"""
import contextlib
import os
import pathlib
import subprocess
import sys
import tempfile
import time

START_SECONDS = 30


@contextlib.contextmanager
def running(program, log, *flags):
    """The program on a port of the loopback; gives the URL at which it listens."""
    command = [program, "--ws", "127.0.0.1:0", "--grpc", "off", *flags]
    with open(log, "wb") as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + START_SECONDS
        while True:
            said = log.read_text()
            words = said.split()
            if " is ready" in said:
                yield words[words.index("listening") + 1]
                break
            if process.poll() is not None or time.monotonic() > deadline:
                sys.exit(f"{program} did not start:\n{said}")
            time.sleep(0.02)
        if process.poll() is not None:
            sys.exit(f"{program} has ended with {process.returncode}:\n{log.read_text()}")
    finally:
        process.terminate()
        process.wait()


def main():
    programs, weights, mesh, *rest = sys.argv[1:]
    programs = pathlib.Path(programs)
    given = pathlib.Path(os.environ.get("BURN_VECTORS_DIR", "../shared/vectors"))
    if given.is_dir():
        rest.append(str(given))
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        fleet = ["--mesh", mesh]
        for i, weight in enumerate(weights.split(",")):
            url = stack.enter_context(running(programs / "burn-server", folder / f"worker{i}.log"))
            fleet += ["--worker", f"{url}={weight}"]
        router = stack.enter_context(running(programs / "burn-router", folder / "router.log", *fleet))
        result = subprocess.run([programs / "burn-conformance", "--device", router, *rest]).returncode
    sys.exit(result)


if __name__ == "__main__":
    main()
