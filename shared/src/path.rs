//! A path as bytes, so that any name survives the wire.

use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// A path that crosses the wire as MessagePack *bin*: the exact bytes, never a lossy string.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WirePath(Vec<u8>);

impl WirePath {
    /// The bytes as they stand on the file system.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The same bytes as a path.
    pub fn as_path(&self) -> &Path {
        Path::new(OsStr::from_bytes(&self.0))
    }
}

impl From<&Path> for WirePath {
    fn from(path: &Path) -> Self {
        Self(path.as_os_str().as_bytes().to_vec())
    }
}

impl From<PathBuf> for WirePath {
    fn from(path: PathBuf) -> Self {
        Self(path.into_os_string().into_vec())
    }
}

impl fmt::Debug for WirePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_path(), f)
    }
}

impl Serialize for WirePath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for WirePath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_byte_buf(PathBytes)
    }
}

struct PathBytes;

impl<'de> Visitor<'de> for PathBytes {
    type Value = WirePath;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the bytes of a path")
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<WirePath, E> {
        Ok(WirePath(bytes.to_vec()))
    }

    fn visit_byte_buf<E: Error>(self, bytes: Vec<u8>) -> Result<WirePath, E> {
        Ok(WirePath(bytes))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, _: A) -> Result<WirePath, A::Error> {
        Err(A::Error::custom("a path must be sent as bytes"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_bytes_survive_the_wire(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let path = WirePath::from(PathBuf::from(std::ffi::OsString::from_vec(bytes.clone())));
            let sent = rmp_serde::to_vec(&path).expect("bytes always serialise");
            let back: WirePath = rmp_serde::from_slice(&sent).expect("what was sent is read back");
            prop_assert_eq!(back.as_bytes(), &bytes[..]);
        }
    }
}
