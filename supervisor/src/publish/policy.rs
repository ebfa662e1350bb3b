//! What the user asked for about existing and new files. Plain data.

use std::path::PathBuf;

/// How results come to their place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// Where results go.
    pub place: Place,
    /// What happens to an output that exists and is not ours.
    pub overwrite: Displace,
    /// `--recheck`: what stands where the ledger has a result of the same input is replaced, whatever became of it.
    pub restore: bool,
    /// What outputs take over from their inputs.
    pub preserve: Inherit,
}

/// Where results go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// Into a tree of their own.
    Tree,
    /// Over the originals.
    InPlace {
        /// Folder that gets each original first, under its path relative to the input root.
        backup: Option<PathBuf>,
    },
}

/// What happens to an output that exists and is not ours. An output is ours where the ledger has it as made from the same
/// input with the size and time it still has, or where it is byte for byte what this run would have put there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Displace {
    /// It stays and the input is skipped.
    Never,
    /// It is replaced by something smaller, otherwise the input is skipped.
    Smaller,
    /// It is replaced.
    Always,
}

/// What outputs take over from their inputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each attribute is chosen on its own"
)]
pub struct Inherit {
    /// Permission bits, without set-user-id, set-group-id and sticky.
    pub mode: bool,
    /// Modification time; in place the access time too.
    pub times: bool,
    /// Owner and group.
    pub owner: bool,
    /// Extended attributes, ACLs among them.
    pub xattr: bool,
}

impl Inherit {
    /// For an output tree: what a copy by hand (`cp -p` without being root) keeps.
    pub const TREE: Self = Self {
        mode: true,
        times: true,
        owner: false,
        xattr: false,
    };

    /// In place: the file is to stay the same file in everything but its content.
    pub const IN_PLACE: Self = Self {
        mode: true,
        times: true,
        owner: true,
        xattr: true,
    };
}
