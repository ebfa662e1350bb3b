"""The experiments. Each answers rows for the table of figures and, where it has more to say, a table of its own.

A row: what was measured, the figure asked for, the figure found, whether it was reached.
"""

import dataclasses
import pathlib
import shutil
import statistics
import subprocess
import time

import peers
from measure import copies, fresh, interleaved, run

TARGET = 300_000
SIZES = (300_000, 600_000, 1_000_000)


@dataclasses.dataclass
class Row:
    """One line of the table of figures."""

    what: str
    asked: str
    found: str
    reached: bool | None


@dataclasses.dataclass
class Bench:
    """What every experiment needs."""

    pressroom: object
    score: pathlib.Path
    photos: list
    scratch: pathlib.Path
    rounds: int
    caesium: bool

    def photo(self, name):
        return next(p for p in self.photos if p.name == name)

    def place(self, name):
        return fresh(self.scratch / name)


def at_most(what, value, limit, digits=3):
    return Row(what, f"<= {limit:.{digits}f}", f"{value:.{digits}f}", value <= limit)


def table(head, lines):
    """A Markdown table."""
    rows = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(rows + ["| " + " | ".join(str(cell) for cell in line) + " |" for line in lines])


def cost_table(samples, images, target=None):
    """CPU, memory and size of every tool of one experiment."""
    lines = []
    for name, sample in sorted(samples.items(), key=lambda item: item[1].cpu_median()):
        made = [p.stat().st_size for p in sample.outputs.glob("*.jpg")]
        within = "" if target is None else f"{sum(size <= target for size in made)} of {len(images)}"
        worker = sample.worker_median()
        lines.append(
            [
                name,
                f"{sample.cpu_median() * 1000:.1f}",
                "" if worker is None else f"{worker * 1000:.1f}",
                "" if sample.spread() is None else f"±{sample.spread():.0%}",
                len(sample.cpu),
                f"{sample.peak():.0f}",
                f"{statistics.mean(made) / 1000:.0f}" if made else "none",
                within,
            ]
        )
    head = ["tool", "CPU ms an image", "of it in the worker", "spread", "rounds", "peak MB of a process", "kB an image"]
    return table(head + ([] if target is None else ["within target"]), lines if target else [line[:-1] for line in lines])


def ratio(samples, mine, other):
    """CPU of pressroom's worker, and of all its processes, against another tool's process."""
    base = samples[other].cpu_median()
    return samples[mine].worker_median() / base, samples[mine].cpu_median() / base


def ratio_rows(samples, limits, where):
    """One row a peer; the whole-process figure stands beside the worker's own."""
    rows = []
    for other, limit in limits.items():
        if other in samples:
            worker, whole = ratio(samples, "pressroom", other)
            found = f"{worker:.3f} (all processes {whole:.3f})"
            rows.append(Row(f"{where}: CPU against {other}", f"<= {limit:.3f}", found, worker <= limit))
    return rows


def target_tools(bench, slow_rounds):
    """Everything that aims at a size. The searches take seconds a picture, so they run fewer rounds."""
    tools = {
        "pressroom": (None, bench.pressroom.tool("--max-size", str(TARGET))),
        "jpegtran -optimize": (None, peers.jpegtran),
        f"jpegoptim --size={TARGET // 1000}k": (slow_rounds, peers.jpegoptim(f"--size={TARGET // 1000}k")),
        "sharp, quality search": (slow_rounds, peers.sharp("target", TARGET)),
        "ImageMagick jpeg:extent": (slow_rounds, peers.magick_extent(TARGET)),
        "sharp mozjpeg, quality search": (1, peers.sharp("mozjpeg-target", TARGET)),
    }
    if bench.caesium:
        tools["caesium --max-size"] = (1, peers.caesium_with("--max-size", TARGET))
    return tools


TARGET_LIMITS = {
    "jpegtran -optimize": 0.25,
    f"jpegoptim --size={TARGET // 1000}k": 1 / 12,
    "sharp, quality search": 1 / 25,
}


def baseline_target(bench):
    """One 12-megapixel baseline photograph to 300,000 bytes."""
    rows, text = [], []
    for name, image in (("12 MP baseline 4:2:2", bench.photo("photo-13.jpg")), ("12 MP baseline 4:2:0", resampled(bench))):
        images = copies(image, 4, bench.scratch / f"baseline-in-{name[-5:].replace(':', '')}")
        place = bench.place(f"baseline-{name[-5:].replace(':', '')}")
        samples = interleaved(target_tools(bench, 3), images, place, bench.rounds)
        rows += ratio_rows(samples, TARGET_LIMITS, f"{name} to 300,000 bytes")
        text.append(f"{name} ({image.stat().st_size:,} bytes) to at most {TARGET:,} bytes\n\n" + cost_table(samples, images, TARGET))
    return rows, "\n\n".join(text)


def resampled(bench):
    """The 12-megapixel camera file as most phones would have written it: 4:2:0, quality 95, baseline."""
    made = bench.scratch / "photo-13-420.jpg"
    ppm = bench.scratch / "photo-13.ppm"
    run(["djpeg", "-outfile", ppm, bench.photo("photo-13.jpg")])
    run(["cjpeg", "-quality", "95", "-sample", "2x2", "-outfile", made, ppm])
    ppm.unlink()
    return made


def all_photos_target(bench):
    """All photographs to 300,000 bytes."""
    samples = interleaved(target_tools(bench, 1), bench.photos, bench.place("all-target"), bench.rounds)
    lines = [f"All {len(bench.photos)} photographs to at most {TARGET:,} bytes", cost_table(samples, bench.photos, TARGET)]
    return [], "\n\n".join(lines)


def fixed_quality(bench):
    """Quality 75, same dimensions."""
    tools = {
        "pressroom": (None, bench.pressroom.tool("-q", "75")),
        "jpegtran -optimize": (None, peers.jpegtran),
        "jpegoptim -m75": (None, peers.jpegoptim("-m75")),
        "sharp quality 75": (None, peers.sharp("quality", 75)),
        "vips Q=75": (None, peers.vips_quality(75)),
        "sharp mozjpeg quality 75": (2, peers.sharp("mozjpeg-quality", 75)),
    }
    if bench.caesium:
        tools["caesium -q 75"] = (2, peers.caesium_with("-q", "75"))
    limits = {"jpegoptim -m75": 0.35, "sharp quality 75": 0.22}
    images = copies(bench.photo("photo-13.jpg"), 4, bench.scratch / "quality-in")
    one = interleaved(tools, images, bench.place("quality"), bench.rounds)
    every = interleaved(tools, bench.photos, bench.place("quality-all"), max(3, bench.rounds // 2))
    text = [
        "12 MP baseline 4:2:2 at quality 75\n\n" + cost_table(one, images),
        "All photographs at quality 75\n\n" + cost_table(every, bench.photos),
    ]
    return ratio_rows(one, limits, "12 MP baseline at -q 75") + ratio_rows(every, limits, "all photographs at -q 75"), "\n\n".join(text)


def pixels(bench):
    """A 12-megapixel photograph to 1920 pixels wide at quality 80, and to WebP at quality 75, from JPEG and from PNG."""
    rows, text = [], []
    jpeg, png = bench.photo("photo-13.jpg"), as_png(bench)
    webp = ("to WebP at quality 75", ["-q", "75", "--format", "webp"], "sharp webp 75", ("webp", 75), 0.9)
    asked = (
        ("12 MP baseline", jpeg, "to 1920 pixels wide at quality 80", ["-q", "80", "--max-width", "1920"], "sharp resize 1920", ("resize", 1920), 0.45),
        ("12 MP baseline", jpeg, *webp),
        ("12 MP PNG photograph", png, *webp),
    )
    for source, image, what, options, name, arguments, limit in asked:
        images = copies(image, 4, bench.scratch / f"pixels-in-{image.suffix[1:]}")
        tools = {"pressroom": (None, bench.pressroom.tool(*options)), name: (None, peers.sharp(*arguments))}
        samples = interleaved(tools, images, bench.place("pixels"), bench.rounds)
        rows += ratio_rows(samples, {name: limit}, f"{source} {what}")
        text.append(f"{source} {what}\n\n" + cost_table(samples, images))
    return rows, "\n\n".join(text)


def as_png(bench):
    """The 12-megapixel camera file as a PNG."""
    made = bench.scratch / "photo-13.png"
    run(["vips", "copy", bench.photo("photo-13.jpg"), made])
    return made


def progressive_target(bench):
    """A progressive 12-megapixel photograph to 300,000 bytes."""
    images = copies(bench.photo("photo-10.jpg"), 4, bench.scratch / "progressive-in")
    tools = {
        "pressroom": (None, bench.pressroom.tool("--max-size", str(TARGET))),
        "jpegtran -optimize": (None, peers.jpegtran),
    }
    samples = interleaved(tools, images, bench.place("progressive"), bench.rounds)
    rows = ratio_rows(samples, {"jpegtran -optimize": 0.6}, "12 MP progressive to 300,000 bytes")
    return rows, "12 MP progressive 4:2:2 to 300,000 bytes\n\n" + cost_table(samples, images, TARGET)


def peak_memory(bench):
    """Highest resident memory of a worker."""
    rows = []
    for name, image, limit in (
        ("12 MP baseline", bench.photo("photo-13.jpg"), 16),
        ("12 MP progressive", bench.photo("photo-10.jpg"), 64),
        ("110 MP baseline", tiled(bench), 64),
    ):
        folder = copies(image, 1, bench.scratch / "memory-in")[0].parent
        peaks = []
        for _ in range(3):
            bench.pressroom.run([folder], bench.place("memory"), "--workers", "1", "--max-size", str(TARGET if limit < 64 else "20%"))
            peaks.append(bench.pressroom.worker_peak_mb())
        rows.append(Row(f"worker peak RSS, {name}, MB", f"<= {limit}", f"{max(peaks):.1f}", max(peaks) <= limit))
    return rows, ""


def tiled(bench):
    """Nine copies of the 12-megapixel photograph side by side: 12,096 x 9,072 pixels, baseline."""
    made = bench.scratch / "photo-13-tiled.jpg"
    parts = " ".join([str(bench.photo("photo-13.jpg"))] * 9)
    run(["vips", "arrayjoin", parts, f"{made}[Q=90]", "--across", "3"])
    return made


def targets_met(bench):
    """All photographs to one size and to shares of their own size: never above, close below."""
    gaps, over, unreachable, lines = [], 0, 0, []
    for goal in ("300000", "40%", "20%", "10%"):
        bench.pressroom.run([bench.photos[0].parent], bench.place("hits"), "--workers", "1", "--max-size", goal)
        mine = []
        for row in bench.pressroom.files:
            aim = int(goal) if goal.isdigit() else row["bytes_in"] * int(goal[:-1]) // 100
            if row["outcome"] == "saved":
                mine.append(1 - row["bytes_out"] / aim)
            else:
                unreachable += 1
        over += sum(gap < 0 for gap in mine)
        gaps += mine
        lines.append([goal, len(mine), f"{statistics.median(mine):.2%}", f"{max(mine):.2%}", sum(gap > 0.03 for gap in mine)])
    near = sum(gap <= 0.03 for gap in gaps) / len(gaps)
    rows = [
        Row("target met: results above it", "0", str(over), over == 0),
        Row("target met: within 3 % below", ">= 99 %", f"{near:.1%} of {len(gaps)}", near >= 0.99),
        Row("target met: median below it", "<= 1 %", f"{statistics.median(gaps):.2%}", statistics.median(gaps) <= 0.01),
    ]
    head = ["--max-size", "results", "median below", "furthest below", "more than 3 % below"]
    note = f"{unreachable} originals were kept (within the target already, or not reachable at the lowest quality)."
    return rows, "How close results come to their target\n\n" + table(head, lines) + "\n\n" + note


def quality(bench):
    """SSIMULACRA2 against sharp's mozjpeg search at the same limit of bytes."""
    rows, text = [], []
    for size in SIZES:
        mine, theirs = bench.place(f"quality-{size}"), bench.place(f"quality-moz-{size}")
        bench.pressroom.run([bench.photos[0].parent], mine, "--workers", "1", "--max-size", str(size))
        peers.sharp("mozjpeg-target", size)(bench.photos, theirs)
        scores = {folder: scored(bench, folder) for folder in (mine, theirs)}
        both = [name for name in scores[mine] if name in scores[theirs]]
        gains = {name: scores[mine][name] - scores[theirs][name] for name in both}
        mean_mine = statistics.mean(scores[mine][name] for name in both)
        worst = min(gains, key=gains.get)
        if size == TARGET:
            rows.append(Row("SSIMULACRA2 at 300,000 bytes, mean", ">= 58", f"{mean_mine:.1f}", mean_mine >= 58))
            allowed = 0.0
        else:
            mean = statistics.mean(gains.values())
            worked = [gains[n] for n in both if (mine / n).stat().st_size < bench.photo(n).stat().st_size]
            found = f"{mean:+.2f} (over the {len(worked)} that were not within the limit already: {statistics.mean(worked):+.2f})"
            rows.append(Row(f"SSIMULACRA2 at {size:,} bytes, mean gain over mozjpeg", ">= 3", found, mean >= 3))
            allowed = -0.5
        asked = f">= {allowed:.1f}"
        rows.append(Row(f"SSIMULACRA2 at {size:,} bytes, worst photo against mozjpeg", asked, f"{gains[worst]:+.2f} ({worst})", gains[worst] >= allowed))
        lines = [[n, f"{scores[mine][n]:.1f}", f"{scores[theirs][n]:.1f}", f"{gains[n]:+.1f}", kb(mine / n), kb(theirs / n)] for n in both]
        lines.append(["mean", f"{mean_mine:.1f}", f"{statistics.mean(scores[theirs][n] for n in both):.1f}", f"{statistics.mean(gains.values()):+.1f}", "", ""])
        text.append(f"SSIMULACRA2 at {size:,} bytes\n\n" + table(["photo", "pressroom", "sharp mozjpeg", "gain", "kB", "kB mozjpeg"], lines))
    return rows, "\n\n".join(text)


def kb(path):
    return f"{path.stat().st_size / 1000:.0f}"


def scored(bench, folder):
    """Score of every result in a folder, by name."""
    pairs = bench.scratch / "pairs.tsv"
    made = [(photo, folder / photo.name) for photo in bench.photos if (folder / photo.name).exists()]
    pairs.write_text("".join(f"{a}\t{b}\n" for a, b in made))
    text = subprocess.run([bench.score, "--pairs", pairs], check=True, capture_output=True, text=True).stdout
    cells = [line.split("\t") for line in text.splitlines()]
    return {pathlib.Path(result).name: float(score) for _, result, _, score in cells}


def two_workers(bench):
    """Wall time with two workers against one; only a quiet machine with two free cores can tell."""
    folder = bench.scratch / "scaling-in"
    fresh(folder)
    for n in range(4):
        for photo in bench.photos:
            shutil.copy(photo, folder / f"{n}-{photo.name}")
    walls = {1: [], 2: []}
    for _ in range(bench.rounds):
        for workers, found in walls.items():
            found.append(bench.pressroom.run([folder], bench.place("scaling"), "--workers", str(workers), "--max-size", str(TARGET)).wall)
    gain = statistics.median(walls[1]) / statistics.median(walls[2])
    best = min(walls[1]) / min(walls[2])
    text = table(["workers", "wall s, median", "wall s, best"], [[n, f"{statistics.median(w):.2f}", f"{min(w):.2f}"] for n, w in walls.items()])
    limit = two_processes(bench)
    rows = [
        Row("two workers against one, wall", ">= 1.95", f"{gain:.2f} (best of each: {best:.2f})", gain >= 1.95),
        Row("two jpegtran side by side against one after the other, wall: what the machine allows", "", f"{limit:.2f}", None),
    ]
    return rows, f"{4 * len(bench.photos)} photographs, wall time\n\n{text}"


def two_processes(bench):
    """What two processes gain that share nothing: below 2 it is the machine (two threads of one core, caches, other guests)."""
    made = [bench.scratch / f"yardstick-{n}.jpg" for n in range(2)]
    work = "for n in 1 2 3 4 5 6 7 8; do jpegtran -optimize -copy all -outfile {} {}; done".format
    jobs = [["sh", "-c", work(out, bench.photo("photo-13.jpg"))] for out in made]
    gains = []
    for _ in range(bench.rounds):
        apart = sum(run(job).wall for job in jobs)
        began = time.monotonic()
        children = [subprocess.Popen(job) for job in jobs]
        if any(child.wait() for child in children):
            raise RuntimeError("jpegtran failed")
        gains.append(apart / (time.monotonic() - began))
    return statistics.median(gains)


def supervision(bench, count=20_000):
    """What the supervisor itself costs: very small files, so that its own work shows."""
    folder = fresh(bench.scratch / "small-in")
    small = small_jpeg(bench)
    for n in range(count):
        inside = folder / f"{n // 1000:02}"
        inside.mkdir(exist_ok=True)
        (inside / f"{n:05}.jpg").write_bytes(small)
    cpu, peak, wall = bench.pressroom.watch([folder], bench.place("small"), "-q", "75")
    again, _, again_wall = bench.pressroom.watch([folder], bench.scratch / "small", "-q", "75")
    jobs = bench.pressroom.whole
    per_file = cpu / count * 1e6
    rows = [
        Row(f"supervisor CPU a file, {count:,} files of {len(small):,} bytes, microseconds", "small beside the work", f"{per_file:.0f}", None),
        Row(f"supervisor peak RSS over {count:,} files, MB", "< 64", f"{peak:.1f}", peak < 64),
    ]
    text = (
        f"{count:,} files of {len(small):,} bytes: supervisor CPU {cpu:.2f} s, {wall:.1f} s of wall time with {jobs['workers']} workers; "
        f"a second run with nothing to do: {again:.2f} s of CPU, {again_wall:.1f} s of wall time."
    )
    shutil.rmtree(folder)
    return rows, text


def small_jpeg(bench):
    """About 2 kB: a corner of a photograph."""
    made = bench.scratch / "small.jpg"
    run(["vips", "thumbnail", bench.photo("photo-06.jpg"), f"{made}[Q=85,strip]", "96"])
    return made.read_bytes()


def sandbox(bench):
    """The same work with and without confinement, in turn; CPU of all processes."""
    images = copies(bench.photo("photo-13.jpg"), 16, bench.scratch / "sandbox-in")
    tools = {mode: (None, bench.pressroom.tool("--max-size", str(TARGET), "--sandbox", mode)) for mode in ("auto", "off")}
    samples = interleaved(tools, images, bench.place("sandbox"), max(bench.rounds, 7))
    extra = samples["auto"].cpu_median() / samples["off"].cpu_median() - 1
    return [Row("sandbox cost in CPU", "<= 1 %", f"{extra:+.1%} (spread ±{samples['off'].spread():.1%})", extra <= 0.01)], ""


ALL = {
    "baseline": baseline_target,
    "quality75": fixed_quality,
    "pixels": pixels,
    "progressive": progressive_target,
    "memory": peak_memory,
    "targets": targets_met,
    "scores": quality,
    "workers": two_workers,
    "supervision": supervision,
    "sandbox": sandbox,
    "photos": all_photos_target,
}
