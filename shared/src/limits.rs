//! Numbers that bound a worker. They say how much, not how it is enforced.

use serde::{Deserialize, Serialize};

/// What one job may use. Sent once with [`crate::Go`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// Bytes of memory a worker may hold in all, its own code and stacks included.
    pub memory: u64,
    /// Most pixels (width times height, all frames) a header may declare before the image is refused.
    pub pixels: u64,
    /// Most bytes an input file may have.
    pub input_bytes: u64,
    /// Wall-clock seconds after which the supervisor ends the job; a worker uses it to raise its CPU limit.
    pub job_seconds: u32,
}

/// How much confinement the user asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum SandboxMode {
    /// As much as this kernel offers; what is missing is said once.
    Auto,
    /// Everything, or the run does not start.
    Require,
    /// None.
    Off,
}
