#!/usr/bin/env python3
"""How long a client of `tpack data serve` stands still when its server is killed and started again.

    bench/reconnect.py [--tpack PROGRAM] [--runs 10]

A server sends 3,000 numbered samples, one each millisecond, which a client writes to a file. In each run but the first, the server gets
SIGKILL at a random moment and is started again at once. Fails if the file has not each number once, in order, or if a run takes 5 s
longer than the first, which nothing interrupts.
"""
import argparse
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SAMPLES, MOST_S = 3000, 5.0
PROGRAM = """
import os, sys, time
for number in range(int(os.environ["TPACK_SKIP"]), int(sys.argv[1])):
    time.sleep(0.001)
    sys.stdout.write('{"number": %d}\\n' % number)
    sys.stdout.flush()
"""


class Server:
    def __init__(self, program, folder, address):
        self.words = [program, "data", "serve", str(folder / "server.yaml"), "--bind", address]
        self.folder = folder
        self.start()

    def start(self):
        self.process = subprocess.Popen(self.words, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.process.stdout.readline()

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


def seconds(program, folder, address, kill_after):
    """Seconds until the client has all samples."""
    server = Server(program, folder, address)
    out = folder / "out.npz"
    out.unlink(missing_ok=True)
    try:
        begin = time.monotonic()
        client = subprocess.Popen([program, "data", "convert", str(folder / "client.yaml"), str(out)], stdout=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, text=True)
        if kill_after is not None:
            time.sleep(kill_after)
            server.kill()
            server.start()
        errors = client.communicate()[1]
        took = time.monotonic() - begin
    finally:
        server.kill()
    if client.returncode:
        sys.exit(errors)
    if not np.array_equal(np.load(out)["number"], np.arange(SAMPLES)):
        sys.exit(f"killed after {kill_after} s: samples are lost, repeated or out of order")
    return took


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tpack", default=os.path.join(ROOT, "build/release/tpack"))
    parser.add_argument("--runs", type=int, default=10)
    options = parser.parse_args()
    moments = random.Random(1)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "numbers.py").write_text(PROGRAM)
        (folder / "server.yaml").write_text(
            f"tpack: 1\ndata: {{train: [PipeData: {{command: [{sys.executable}, numbers.py, '{SAMPLES}'], size: {SAMPLES}}}]}}\n")
        address = f"ipc://{folder}/socket"
        (folder / "client.yaml").write_text(f"tpack: 1\ndata: {{train: [RemoteData: ['{address}']]}}\n")
        whole = seconds(options.tpack, folder, address, None)
        lost = [seconds(options.tpack, folder, address, moments.uniform(0.2, 0.8 * whole)) - whole for _ in range(options.runs)]
    print(f"without an interruption {whole:.2f} s; a restart costs {statistics.median(lost):.2f} s (median of {options.runs}; "
          f"{min(lost):.2f} to {max(lost):.2f}); each sample once, in order")
    sys.exit(max(lost) > MOST_S)


if __name__ == "__main__":
    main()
