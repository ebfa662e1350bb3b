//! What publishing and recording promise, on a real file system.
use super::world::*;
use super::*;
