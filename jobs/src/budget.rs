//! How much memory a job may take, and the only way to take a big piece of it.
//!
//! Strict for what goes through [`Budget::vec`] and [`Budget::claim`]; libraries that allocate on their own are bounded
//! by an estimate from the header that is claimed before they run.

use crate::Error;
use std::cell::Cell;
#[cfg(test)]
use std::rc::Rc;

/// Memory and size ceilings of one job.
#[derive(Debug)]
pub struct Budget {
    memory: u64,
    pixels: u64,
    claimed: Cell<u64>,
    peak: Cell<u64>,
    declared: Cell<u64>,
    #[cfg(test)]
    fuse: Rc<Fuse>,
}

/// Refuses claims by their number, to see what a job makes of it.
#[cfg(test)]
#[derive(Debug, Default)]
pub(crate) struct Fuse {
    claims: Cell<u64>,
    at: u64,
    blown: bool,
}

#[cfg(test)]
impl Fuse {
    /// Refuses the claim of number `at`, counted from 1 (0: none), and if `blown` all after it too.
    pub(crate) fn new(at: u64, blown: bool) -> Rc<Self> {
        Rc::new(Self {
            claims: Cell::new(0),
            at,
            blown,
        })
    }

    fn refuses(&self) -> bool {
        self.claims.set(self.claims.get() + 1);
        let claim = self.claims.get();
        self.at > 0 && (claim == self.at || self.blown && claim > self.at)
    }

    /// Claims that were made so far.
    pub(crate) fn claims(&self) -> u64 {
        self.claims.get()
    }
}

impl Budget {
    /// A budget of `memory` bytes for buffers and at most `pixels` declared pixels.
    pub fn new(memory: u64, pixels: u64) -> Self {
        Self {
            memory,
            pixels,
            claimed: Cell::new(0),
            peak: Cell::new(0),
            declared: Cell::new(0),
            #[cfg(test)]
            fuse: Rc::default(),
        }
    }

    /// A budget that refuses as `fuse` says.
    #[cfg(test)]
    pub(crate) fn fused(memory: u64, pixels: u64, fuse: &Rc<Fuse>) -> Self {
        Self {
            fuse: Rc::clone(fuse),
            ..Self::new(memory, pixels)
        }
    }

    /// The same ceilings with nothing claimed, for a second attempt at a job whose first has let go of everything.
    pub(crate) fn afresh(&self) -> Self {
        Self {
            #[cfg(test)]
            fuse: Rc::clone(&self.fuse),
            ..Self::new(self.memory, self.pixels)
        }
    }

    /// Bytes not yet claimed.
    pub fn left(&self) -> u64 {
        self.memory.saturating_sub(self.claimed.get())
    }

    /// Bytes in all.
    pub fn memory(&self) -> u64 {
        self.memory
    }

    /// Most bytes that were claimed at any time.
    pub fn peak(&self) -> u64 {
        self.peak.get()
    }

    /// Most pixels of a picture that were admitted.
    pub(crate) fn declared(&self) -> u64 {
        self.declared.get()
    }

    /// Refuses a declared size of more pixels than allowed, before anything is allocated for it.
    ///
    /// # Errors
    /// [`Error::TooManyPixels`].
    pub fn admit_pixels(&self, width: u64, height: u64) -> Result<(), Error> {
        let pixels = width.saturating_mul(height);
        if pixels > self.pixels {
            return Err(Error::TooManyPixels {
                width,
                height,
                limit: self.pixels,
            });
        }
        self.declared.set(self.declared.get().max(pixels));
        Ok(())
    }

    /// Claims `bytes` for something allocated elsewhere.
    ///
    /// # Errors
    /// [`Error::OverBudget`] with the bytes that would be needed in all.
    pub fn claim(&self, bytes: u64) -> Result<(), Error> {
        let wanted = self.claimed.get().saturating_add(bytes);
        let over = Error::OverBudget {
            needed: wanted,
            cap: self.memory,
        };
        #[cfg(test)]
        if self.fuse.refuses() {
            return Err(over);
        }
        if wanted > self.memory {
            return Err(over);
        }
        self.claimed.set(wanted);
        self.peak.set(self.peak.get().max(wanted));
        Ok(())
    }

    /// Gives back `bytes` claimed earlier.
    pub fn release(&self, bytes: u64) {
        self.claimed.set(self.claimed.get().saturating_sub(bytes));
    }

    /// An empty vector with room for `count` items, claimed and allocated without aborting.
    ///
    /// # Errors
    /// [`Error::OverBudget`], also where the system itself refuses the memory.
    pub fn vec<T>(&self, count: usize) -> Result<Vec<T>, Error> {
        let bytes = (count as u64).saturating_mul(size_of::<T>() as u64);
        self.claim(bytes)?;
        let mut vec = Vec::new();
        if vec.try_reserve_exact(count).is_err() {
            self.release(bytes);
            return Err(Error::OverBudget {
                needed: self.claimed.get().saturating_add(bytes),
                cap: self.memory,
            });
        }
        Ok(vec)
    }

    /// Releases the claim of a vector made by [`Budget::vec`] and frees it.
    pub fn free<T>(&self, vec: Vec<T>) {
        self.release((vec.capacity() as u64).saturating_mul(size_of::<T>() as u64));
    }
}
