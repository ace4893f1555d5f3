#!/usr/bin/env python3
"""Trains on two ranks that see each other only through a slow network, and compares the step with what it can be at best.

Each rank is in a network namespace of its own. The namespaces are joined by a pair of TUN devices: tc limits their rate, and a relay in
this program adds the latency (netem would do that too, but not every kernel has it). For the time of a step:

  compute     backward and update of one rank, while the other one computes too
  bound       max(compute, time until the first bucket is ready + bytes / bandwidth + update)
  predicted   what `tpack bench --simulate-allreduce` says for two nodes

Needs root, Open MPI, iproute2 and two idle processors.
"""
import argparse
import collections
import ctypes
import fcntl
import json
import os
import pathlib
import select
import shutil
import signal
import stat
import statistics
import struct
import subprocess
import sys
import tempfile
import time
import traceback

ROOT = pathlib.Path(__file__).resolve().parent.parent
HOSTS = {"tpack-a": "10.99.0.1", "tpack-b": "10.99.0.2"}
MTU = 60000


def run(*words, **options):
    return subprocess.run(words, check=True, text=True, **options)


def tun(name):
    """A TUN device without headers; its packets are read from and written to the file."""
    TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 0x0001, 0x1000
    file = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(file, TUNSETIFF, struct.pack("16sH", name.encode(), IFF_TUN | IFF_NO_PI))
    return file


def relay(a, b, latency_s):
    """Hands on each packet from one device to the other so many seconds after it came. Never returns."""
    # A network does not wait for a processor that computes.
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    other = {a: b, b: a}
    waiting = collections.deque()
    while True:
        timeout = max(0.0, waiting[0][0] - time.monotonic()) if waiting else None
        there, _, _ = select.select((a, b), (), (), timeout)
        now = time.monotonic()
        for source in there:
            waiting.append((now + latency_s, other[source], os.read(source, MTU + 100)))
        while waiting and waiting[0][0] <= now:
            _, target, packet = waiting.popleft()
            os.write(target, packet)


class Network:
    """Two namespaces and what joins them, as long as the object is entered."""

    def __init__(self, gbit_per_s, latency_ms):
        self.gbit_per_s, self.latency_ms = gbit_per_s, latency_ms

    def __enter__(self):
        files = []
        for space, address in HOSTS.items():
            run("ip", "netns", "add", space)
            device = f"{space}-tun"
            files.append(tun(device))
            run("ip", "link", "set", device, "netns", space)
            inside = ["ip", "netns", "exec", space]
            run(*inside, "ip", "addr", "add", f"{address}/24", "dev", device)
            run(*inside, "ip", "link", "set", "lo", "up")
            run(*inside, "ip", "link", "set", device, "mtu", str(MTU), "up")
            run(*inside, "tc", "qdisc", "add", "dev", device, "root", "tbf", "rate", f"{self.gbit_per_s}gbit", "burst", "128kb",
                "latency", "200ms")
        self.relay = os.fork()
        if self.relay == 0:
            try:
                PR_SET_PDEATHSIG = 1
                ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
                relay(*files, self.latency_ms / 1e3)
            except BaseException:
                traceback.print_exc()
                os.killpg(0, signal.SIGTERM)  # nothing goes on without it
            finally:
                os._exit(1)
        return self

    def __exit__(self, *_):
        os.kill(self.relay, signal.SIGKILL)
        os.waitpid(self.relay, 0)
        for space in HOSTS:
            subprocess.run(["ip", "netns", "del", space])

    def sent_bytes(self):
        """By the first host so far."""
        space = next(iter(HOSTS))
        text = run("ip", "netns", "exec", space, "cat", f"/sys/class/net/{space}-tun/statistics/tx_bytes", stdout=subprocess.PIPE)
        return int(text.stdout)


def agent(folder):
    """What mpirun calls instead of ssh: `agent HOST COMMAND...`. The host gets a name of its own, so that ranks do not share memory."""
    path = folder / "agent"
    second_space, second = list(HOSTS.items())[1]
    path.write_text("#!/bin/sh\n"
                    f"[ \"$1\" = {second} ] || exit 1\nshift\n"
                    f"exec ip netns exec {second_space} unshare --uts sh -c \"hostname {second_space}; $*\"\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def train(options, network, folder, compression):
    """Seconds of a step, and bytes that a rank has sent in it."""
    log_dir = folder / compression
    command = ["ip", "netns", "exec", next(iter(HOSTS)), "mpirun", "--allow-run-as-root", "-n", "2", "--bind-to", "none", "--host",
               ",".join(f"{address}:1" for address in HOSTS.values()), "--mca", "plm_rsh_agent", agent(folder), "--mca", "btl",
               "tcp,self", "--mca", "btl_tcp_if_include", "10.99.0.0/24", "--mca", "oob_tcp_if_include", "10.99.0.0/24", "--mca", "pml",
               "ob1", "sh", "-c", 'exec taskset -c $OMPI_COMM_WORLD_RANK "$@"', "sh",
               options.tpack, "train", options.config, "--log-dir", str(log_dir), "--set", "engine={threads: 1}", "--set",
               f"trainer={{Horovod: {{bucket_mb: {options.bucket_mb}, compression: {compression}, broadcast_every_epoch: false}}}}", "--set", f"max_epoch={1 + options.epochs}"]
    before = network.sent_bytes()
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr[-3000:])
    sent = network.sent_bytes() - before
    records = json.loads((log_dir / "stats.json").read_text())
    return 1 / statistics.median(record["steps_per_s"] for record in records[1:]), sent / records[-1]["global_step"]


def profiles(options, compression):
    """Two processes measure at the same time; the slower one counts."""
    command = [options.tpack, "bench", options.config, "--set", "engine={threads: 1}", "--steps", "20", "--warm-up", "3", "--json",
               "--simulate-allreduce", "--gbit-per-s", str(options.gbit_per_s), "--latency-ms", str(options.latency_ms), "--bucket-mb",
               str(options.bucket_mb), "--compression", compression]
    both = [subprocess.Popen(["taskset", "-c", str(core), *command], stdout=subprocess.PIPE, text=True) for core in (0, 1)]
    reports = [json.loads(one.communicate()[0]) for one in both]
    return max(reports, key=lambda report: report["backward_ms"] + report["update_ms"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tpack", default=str(ROOT / "build/release/tpack"))
    parser.add_argument("--config", default=str(ROOT / "bench/configs/vgg.yaml"))
    parser.add_argument("--gbit-per-s", type=float, default=1)
    parser.add_argument("--latency-ms", type=float, default=1)
    parser.add_argument("--bucket-mb", type=float, default=4)
    parser.add_argument("--epochs", type=int, default=5, help="timed epochs")
    parser.add_argument("--compressions", nargs="*", default=["none", "fp16"])
    options = parser.parse_args()
    os.setpgrp()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended"))
    folder = pathlib.Path(tempfile.mkdtemp(prefix="two_hosts-"))
    try:
        with Network(options.gbit_per_s, options.latency_ms) as network:
            for compression in options.compressions:
                profile = profiles(options, compression)
                step, sent = train(options, network, folder, compression)
                compute = (profile["backward_ms"] + profile["update_ms"]) / 1e3
                wire = sum(bucket["bytes"] for bucket in profile["buckets"]) / (options.gbit_per_s * 1e9 / 8)
                bound = max(compute, (profile["buckets"][0]["ready_ms"] + profile["update_ms"]) / 1e3 + wire)
                predicted = next(row["step_ms"] for row in profile["nodes"] if row["nodes"] == 2) / 1e3
                print(f"compression {compression}: step {step * 1e3:.1f} ms; compute {compute * 1e3:.1f} ms, wire {wire * 1e3:.1f} ms, "
                      f"bound {bound * 1e3:.1f} ms (x {step / bound:.3f}); predicted {predicted * 1e3:.1f} ms "
                      f"({100 * (predicted / step - 1):+.1f} %); {sent / 1e6:.2f} MB sent per step", flush=True)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
