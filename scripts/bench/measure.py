"""Runs commands and says what they cost. CPU is user plus system time of the process and all its children."""

import dataclasses
import os
import pathlib
import shutil
import statistics
import subprocess
import time


@dataclasses.dataclass
class Cost:
    """What one run of one command took."""

    cpu: float
    wall: float
    peak_mb: float
    exit: int


def run(command, cwd=None, check=True):
    """Runs one command to its end with its output thrown away."""
    began = time.monotonic()
    child = subprocess.Popen(
        [str(part) for part in command], cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    complaint = child.stderr.read()
    _, status, usage = os.wait4(child.pid, 0)
    wall = time.monotonic() - began
    child.returncode = os.waitstatus_to_exitcode(status)
    if check and child.returncode != 0:
        raise RuntimeError(f"{command[0]} ended with {child.returncode}: {complaint.decode(errors='replace')[-600:]}")
    return Cost(usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / 1024, child.returncode)


def chain(commands):
    """Runs several commands one after the other as one cost: tools that take one file a process."""
    costs = [run(command) for command in commands]
    return Cost(
        sum(c.cpu for c in costs), sum(c.wall for c in costs), max(c.peak_mb for c in costs), max(c.exit for c in costs)
    )


def fresh(folder):
    """An empty folder."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


@dataclasses.dataclass
class Sample:
    """All runs of one tool in one experiment, per image."""

    tool: str
    cpu: list
    peak_mb: list
    worker_cpu: list
    outputs: pathlib.Path

    def cpu_median(self):
        return statistics.median(self.cpu)

    def worker_median(self):
        return statistics.median(self.worker_cpu) if self.worker_cpu else None

    def spread(self):
        """Half the distance between the quartiles, as a share of the median."""
        if len(self.cpu) < 3:
            return None
        low, _, high = statistics.quantiles(self.cpu, n=4)
        return (high - low) / 2 / self.cpu_median()

    def peak(self):
        return max(self.peak_mb)


def interleaved(tools, images, scratch, rounds):
    """Runs every tool `rounds` times in turn, after one round that does not count; costs are per image.

    `tools` maps a name to `(rounds or None, function(images, out) -> Cost)`; a slow tool may ask for fewer rounds and is
    then spared the round that does not count. A tool that reports its workers' own CPU leaves it in `out/../NAME.worker`.
    """
    samples = {name: Sample(name, [], [], [], scratch / name) for name in tools}
    for turn in range(-1, rounds):
        for name, (own_rounds, work) in tools.items():
            if turn >= (own_rounds or rounds) or (turn < 0 and own_rounds):
                continue
            out = fresh(scratch / name)
            cost, worker_cpu = work(images, out)
            if turn < 0:
                continue
            samples[name].cpu.append(cost.cpu / len(images))
            samples[name].peak_mb.append(cost.peak_mb)
            if worker_cpu is not None:
                samples[name].worker_cpu.append(worker_cpu / len(images))
    return samples


def copies(image, count, folder):
    """A folder with `count` copies of one image, so that starting up weighs little."""
    fresh(folder)
    return [pathlib.Path(shutil.copy(image, folder / f"{image.stem}-{n:02}{image.suffix}")) for n in range(count)]


