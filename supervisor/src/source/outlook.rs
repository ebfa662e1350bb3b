//! How much there is to do, told ahead of the walk that feeds the workers: that one waits for them and so knows the total
//! only at the end. Counts names and sizes; costs one more look at each file.

use super::{Encounter, Source};
use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// A running count of the inputs of a run.
#[derive(Debug, Default)]
pub struct Outlook {
    inputs: AtomicU64,
    bytes: AtomicU64,
    complete: AtomicBool,
    unwanted: AtomicBool,
}

/// What is known so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Expected {
    /// Inputs, those that will be refused or skipped included.
    pub inputs: u64,
    /// Bytes of all of them.
    pub bytes: u64,
    /// Whether that is all.
    pub complete: bool,
}

impl Outlook {
    /// What is known so far.
    pub fn so_far(&self) -> Expected {
        // The flag first: what is read after it was set is the whole.
        let complete = self.complete.load(Ordering::Acquire);
        Expected {
            inputs: self.inputs.load(Ordering::Relaxed),
            bytes: self.bytes.load(Ordering::Relaxed),
            complete,
        }
    }

    /// Ends the count; the run is over or stopping.
    pub fn forget(&self) {
        self.unwanted.store(true, Ordering::Relaxed);
    }

    fn note(&self, finding: &Encounter) -> ControlFlow<()> {
        match finding {
            Encounter::PassedOver { .. } => return self.go_on(),
            Encounter::File { .. } | Encounter::Fault { .. } => {}
        }
        self.inputs.fetch_add(1, Ordering::Relaxed);
        if let Encounter::File { identity, .. } = finding {
            self.bytes.fetch_add(identity.size, Ordering::Relaxed);
        }
        self.go_on()
    }

    fn go_on(&self) -> ControlFlow<()> {
        if self.unwanted.load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

/// Counts in a thread of its own.
pub(super) fn start(mut source: Box<dyn Source>) -> io::Result<Arc<Outlook>> {
    let outlook = Arc::new(Outlook::default());
    let shared = Arc::clone(&outlook);
    std::thread::Builder::new()
        .name("outlook".to_owned())
        .spawn(move || {
            if source
                .visit(&mut |finding| shared.note(&finding))
                .is_continue()
            {
                shared.complete.store(true, Ordering::Release);
            }
        })?;
    Ok(outlook)
}
