"""pressroom itself: the release binary, its rows, and what only /proc tells about a running supervisor."""

import json
import os
import pathlib
import subprocess
import time

from measure import run

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TICK = os.sysconf("SC_CLK_TCK")


def build(anew):
    """Builds the release binary and the scorer, unless they are to be taken as they stand; answers where they are."""
    for extra in (["-p", "pressroom"], ["-p", "pressroom-jobs", "--example", "score"]) if anew else ():
        subprocess.run(["cargo", "build", "--release", "--quiet", "--locked", *extra], cwd=ROOT, check=True)
    target = subprocess.run(
        ["cargo", "metadata", "--format-version=1", "--no-deps"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout
    release = pathlib.Path(json.loads(target)["target_directory"]) / "release"
    return release / "pressroom", release / "examples" / "score"


class Pressroom:
    """Runs the binary and keeps the rows of the last run."""

    def __init__(self, binary):
        self.binary = binary
        self.files = []
        self.whole = {}

    def command(self, inputs, out, options):
        """The rows go beside the output tree, never into it."""
        return [self.binary, *inputs, "-o", out, "-Q", "--json", self.rows_of(out), *options]

    @staticmethod
    def rows_of(out):
        return out.parent / f"{out.name}.rows"

    def read_rows(self, out):
        """One object a line: `type` is `file` or `run`."""
        values = [json.loads(line) for line in self.rows_of(out).read_text().splitlines()]
        self.files = [value for value in values if value["type"] == "file"]
        self.whole = next(value for value in values if value["type"] == "run")

    def run(self, inputs, out, *options):
        """Runs and answers the cost of all its processes together; exit 1 (some files failed) is an answer too."""
        self.rows_of(out).unlink(missing_ok=True)
        cost = run(self.command(inputs, out, options), check=False)
        if cost.exit not in (0, 1):
            raise RuntimeError(f"pressroom ended with {cost.exit}")
        self.read_rows(out)
        return cost

    def worker_cpu(self):
        """CPU seconds of all jobs of the last run as the workers measured them."""
        return sum(row["cpu_us"] for row in self.files) / 1e6

    def worker_peak_mb(self):
        """Highest resident memory of any worker in the last run, in MB of 10^6 bytes."""
        return max(row["peak_rss"] for row in self.files) / 1e6

    def tool(self, *options):
        """As one of the tools that `interleaved` runs: one worker."""

        def work(images, out):
            cost = self.run([images[0].parent], out, "--workers", "1", *options)
            return cost, self.worker_cpu()

        return work

    def watch(self, inputs, out, *options):
        """Runs once and watches the supervisor's own process: its CPU seconds, its peak memory in MB, and the wall time.

        Children are not in these figures; they are read from /proc until the process is gone, so the last 20 ms are lost.
        """
        began = time.monotonic()
        child = subprocess.Popen([str(part) for part in self.command(inputs, out, options)], stdin=subprocess.DEVNULL)
        cpu = peak = 0.0
        while child.poll() is None:
            try:
                fields = pathlib.Path(f"/proc/{child.pid}/stat").read_text().rsplit(")", 1)[1].split()
                status = pathlib.Path(f"/proc/{child.pid}/status").read_text()
            except (FileNotFoundError, ProcessLookupError):
                break
            cpu = max(cpu, (int(fields[11]) + int(fields[12])) / TICK)
            high = [line for line in status.splitlines() if line.startswith("VmHWM")]
            peak = max([peak] + [int(line.split()[1]) * 1024 / 1e6 for line in high])
            time.sleep(0.02)
        child.wait()
        self.read_rows(out)
        return cpu, peak, time.monotonic() - began
