#!/usr/bin/env python3
"""cases.py --compare|--accept ROWS EXPECTED: holds the rows of a run over the case files against what is expected of each.

EXPECTED has one line per input, sorted: outcome, reason, path, then what the row says (message and warnings), tab-separated and
escaped as in JSON. Lines that start with '#' are kept.
"""

import json
import pathlib
import sys


def plain(text):
    """As JSON writes it, without the quotes: no tab or line break can hide in a column."""
    return json.dumps(text, ensure_ascii=True)[1:-1]


def spelling(row):
    """The output's path below the output folder; a name that is not UTF-8 is told by its bytes."""
    return plain(f"base64:{row['path_base64']}" if "path_base64" in row else row["path"])


def lines(rows):
    """One line per file row; the path is the one below the input folder."""
    found = []
    for row in (json.loads(line) for line in rows.read_text().splitlines()):
        if row["type"] == "file":
            said = "; ".join(filter(None, [row.get("message") or "", *row.get("warnings", [])]))
            found.append("\t".join([row["outcome"], row.get("reason") or "-", spelling(row), plain(said)]).rstrip("\t"))
    return sorted(found, key=lambda line: line.split("\t")[2])


def compare(found, expected):
    """Prints each difference; answers how many inputs differ."""
    by_path = [{line.split("\t")[2]: line for line in side} for side in (expected, found)]
    different = 0
    for path in sorted(by_path[0].keys() | by_path[1].keys()):
        wanted, got = (side.get(path) for side in by_path)
        if wanted != got:
            different += 1
            print(f"- {wanted or 'no such input expected: ' + path}\n+ {got or 'no row for ' + path}")
    return different


def main():
    mode, rows, expected = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    found = lines(rows)
    kept = expected.read_text().splitlines() if expected.exists() else []
    if mode == "--accept":
        head = [line for line in kept if line.startswith("#")]
        expected.write_text("\n".join(head + found) + "\n")
        print(f"{len(found)} rows written to {expected}")
        return 0
    different = compare(found, [line for line in kept if line and not line.startswith("#")])
    print(f"{len(found)} rows, {different} not as in {expected}")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
