"""The tools people use today: how to get them, which version they are, and the command line of each task.

Debian's packages are installed where missing and where this may be done; sharp and caesium go into `target/bench/peers`.
"""

import os
import pathlib
import re
import shutil
import subprocess

from measure import chain, run

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
HOME = ROOT / "target" / "bench" / "peers"

DEBIAN = {
    "jpegtran": "libjpeg-turbo-progs",
    "djpeg": "libjpeg-turbo-progs",
    "cjpeg": "libjpeg-turbo-progs",
    "jpegoptim": "jpegoptim",
    "vips": "libvips-tools",
    "convert": "imagemagick",
    "node": "nodejs",
    "npm": "npm",
}


def install(with_caesium):
    """Brings what is missing; says what it could not bring."""
    missing = sorted({package for tool, package in DEBIAN.items() if not shutil.which(tool)})
    if missing and os.geteuid() == 0:
        subprocess.run(["apt-get", "update", "-qq"], check=True)
        subprocess.run(["apt-get", "install", "-y", "-qq", "--no-install-recommends", *missing], check=True)
    elif missing:
        raise SystemExit(f"missing: apt-get install {' '.join(missing)}")
    HOME.mkdir(parents=True, exist_ok=True)
    if not (HOME / "node_modules" / "sharp").exists():
        subprocess.run(["npm", "install", "--silent", "--no-save", "--prefix", HOME, "sharp"], check=True)
    if with_caesium and not caesium().exists():
        subprocess.run(["cargo", "install", "--quiet", "caesiumclt", "--root", HOME], check=True)


def caesium():
    return HOME / "bin" / "caesiumclt"


def first_line(command):
    text = subprocess.run(command, capture_output=True, text=True).stdout or ""
    return text.strip().splitlines()[0] if text.strip() else "not found"


def versions():
    """Name and version of everything that is compared."""
    turbo = subprocess.run(["jpegtran", "-version"], capture_output=True, text=True).stderr.strip().splitlines()[0]
    package = (HOME / "node_modules" / "sharp" / "package.json").read_text()
    found = {
        "libjpeg-turbo (jpegtran)": turbo,
        "jpegoptim": first_line(["jpegoptim", "--version"]),
        "ImageMagick": first_line(["convert", "-version"]).split("https")[0],
        "vips": first_line(["vips", "--version"]),
        "sharp": re.search(r'"version": "([^"]+)"', package).group(1) + ", node " + first_line(["node", "--version"]),
    }
    if caesium().exists():
        found["caesium"] = first_line([caesium(), "--version"])
    return found


def sharp(mode, argument):
    """sharp through its script, all images in one process."""

    def work(images, out):
        os.environ["SHARP"] = str(HOME / "node_modules" / "sharp")
        return run(["node", HERE / "sharp.js", mode, out, argument, *images]), None

    return work


def jpegtran(images, out):
    """Lossless rewrite with optimal tables, everything kept: the unit of measure for work on coefficients."""
    return chain([["jpegtran", "-optimize", "-copy", "all", "-outfile", out / i.name, i] for i in images]), None


def jpegoptim(*options):
    """jpegoptim works in place, so copies are made first, outside the measurement."""

    def work(images, out):
        made = [shutil.copy(image, out / image.name) for image in images]
        return run(["jpegoptim", "-q", *options, *made]), None

    return work


def magick_extent(bytes_):
    """ImageMagick's own search for a size."""

    def work(images, out):
        define = f"jpeg:extent={bytes_ // 1000}KB"
        return chain([["convert", i, "-define", define, out / i.name] for i in images]), None

    return work


def vips_quality(quality):
    """vips at one quality, one thread."""

    def work(images, out):
        os.environ["VIPS_CONCURRENCY"] = "1"
        return chain([["vips", "copy", i, f"{out / i.name}[Q={quality}]"] for i in images]), None

    return work


def caesium_with(*options):
    """caesium, one thread, metadata kept."""

    def work(images, out):
        return run([caesium(), *options, "--threads", "1", "-e", "-Q", "-o", out, *images]), None

    return work


