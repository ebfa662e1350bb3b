//! What others published: figures from other machines and other programs, shown beside the measured ones and marked as
//! theirs. Nothing here was measured in the run that shows it.

use crate::book::Published;

/// The published table of worker counts: (worker processes, seconds).
pub(crate) const SCALING_POINTS: [(u32, f64); 4] = [(1, 42.3), (4, 11.5), (8, 14.8), (16, 21.6)];

/// More processes than cores.
pub(crate) const SCALING: Published = Published {
    source: "field report: image work by forked processes on 4 cores",
    rows: &[
        ("1 process", "42.3 s"),
        ("4 processes", "11.5 s"),
        ("8 processes", "14.8 s"),
        ("16 processes", "21.6 s"),
    ],
};

/// Processes against threads.
pub(crate) const THREADS: Published = Published {
    source: "field report: 1,000 JPEGs of 5 MB to about 300 KB by 4 workers, Node and sharp, i7-9750H",
    rows: &[
        ("threads", "42 to 45 s, 1.2 GB"),
        ("child processes", "32 to 34 s, 600 MB"),
    ],
};

/// What crosses the boundary.
pub(crate) const BOUNDARY: Published = Published {
    source: "field report: time the sender is blocked, structured clone against transfer in Node",
    rows: &[
        ("by copy, 1 to 128 MB", "0.21 to 21 ms (0.165 ms per MB)"),
        ("by handle, any size", "0.01 to 0.02 ms"),
    ],
};

/// Several tasks on one core.
pub(crate) const ONE_CORE: Published = Published {
    source: "field report: pool of libuv on one core",
    rows: &[("4 tasks", "75 % of the throughput of 1")],
};
