//! Something that is printed to until it fails: what a reader, a disk or a terminal does to it costs text and no image.

use super::lane::{Full, Outlet};
use super::records::{self, Opened};
use super::terminal::OutputError;
use std::io::{self, LineWriter, Write};
use std::path::Path;

/// Something that is written to until it fails.
pub(super) struct Stream {
    name: String,
    writer: Box<dyn Write + Send>,
    /// Where what was written may still wait.
    outlet: Option<Outlet>,
    pub(super) lost: Option<io::Error>,
}

impl Stream {
    pub(super) fn stdout(full: Full) -> Self {
        Self::through("standard output", Outlet::stdout(full))
    }

    pub(super) fn stderr() -> Self {
        Self::through("standard error", Outlet::stderr())
    }

    pub(super) fn through(name: &str, outlet: Outlet) -> Self {
        Self {
            outlet: Some(outlet.clone()),
            ..Self::new(name, Box::new(outlet))
        }
    }

    pub(super) fn file(path: &Path) -> Result<Self, OutputError> {
        let opened = records::open(path).map_err(|source| OutputError::Create {
            path: path.to_path_buf(),
            source,
        })?;
        let name = path.to_string_lossy();
        Ok(match opened {
            Opened::File(file) => Self::new(&name, Box::new(LineWriter::new(file))),
            Opened::Pipe(outlet) => Self::through(&name, outlet),
        })
    }

    pub(super) fn new(name: &str, writer: Box<dyn Write + Send>) -> Self {
        Self {
            name: name.to_owned(),
            writer,
            outlet: None,
            lost: None,
        }
    }

    pub(super) fn write(&mut self, text: &str) {
        if self.lost.is_some() {
            return;
        }
        let written = self
            .writer
            .write_all(text.as_bytes())
            .and_then(|()| self.writer.flush());
        self.lost = written.err();
    }

    /// Waits for what was written to be read, as long as somebody reads.
    pub(super) fn drain(&mut self) {
        if let (None, Some(outlet)) = (&self.lost, &self.outlet) {
            self.lost = outlet.drain().err();
        }
    }

    /// What to say about a loss. A reader that went away (`| head`) knows it.
    pub(super) fn loss(&self) -> Option<String> {
        let error = self.lost.as_ref()?;
        if error.kind() == io::ErrorKind::BrokenPipe {
            return None;
        }
        Some(format!(
            "pressroom: {} is incomplete ({error}); `pressroom report` has everything\n",
            self.name
        ))
    }
}

impl std::fmt::Debug for Stream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stream")
            .field("name", &self.name)
            .field("lost", &self.lost)
            .finish_non_exhaustive()
    }
}
