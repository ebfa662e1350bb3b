//! One job: open, compress, check, leave a file in staging, say what became of it.
//!
//! The only user of `jobs` but for `translate`. Whatever goes wrong with an image comes out as a value; [`net`] makes
//! that true even of a panic.

use crate::error::StartError;
use crate::files::{FileError, SourceFile, Staged, Staging};
use crate::limits;
use crate::translate;
use pressroom_jobs::{Budget, Compressed, Options, Written, check, compress, recognise};
use pressroom_shared::{Failed, FailureKind, Go, Job, Kept, Limits, Outcome, Saved};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Everything the jobs of one run have in common.
#[derive(Debug)]
pub(crate) struct Handler {
    options: Options,
    staging: Staging,
    limits: Limits,
    memory: u64,
    in_place: bool,
}

impl Handler {
    /// Opens the staging folder, so it must be called before confinement.
    ///
    /// # Errors
    /// [`StartError::Unsupported`], [`StartError::CapTooSmall`] and [`StartError::Staging`].
    pub(crate) fn new(go: &Go) -> Result<Self, StartError> {
        let path = go.confinement.staging.as_path();
        Ok(Self {
            options: translate::options(&go.settings).map_err(StartError::Unsupported)?,
            staging: Staging::open(path).map_err(|source| StartError::Staging {
                path: path.to_path_buf(),
                source,
            })?,
            memory: limits::job_memory(&go.limits)?,
            limits: go.limits.clone(),
            in_place: go.in_place,
        })
    }

    /// Does one job. A file in staging exists afterwards only where the outcome says so.
    pub(crate) fn handle(&self, job: &Job) -> Outcome {
        self.attempt(job).unwrap_or_else(Outcome::Failed)
    }

    fn attempt(&self, job: &Job) -> Result<Outcome, Failed> {
        let limit = self.limits.input_bytes;
        if job.identity.size > limit {
            return Err(translate::input_too_large(job.identity.size, limit));
        }
        let source = SourceFile::open(job.source.as_path(), job.identity)?;
        if self.in_place && source.has_other_names() {
            return hard_linked(job, &source);
        }
        let mut staged = self.staging.file(job.staged.as_path())?;
        let worked = self.work(job, &source, &mut staged);
        // A file that changed in the meantime explains whatever came out, an error as well as a result.
        let outcome = source.check().map_err(Failed::from).and(worked);
        if outcome.is_err() {
            staged.discard();
        }
        outcome
    }

    fn work(
        &self,
        job: &Job,
        source: &SourceFile,
        staged: &mut Staged<'_>,
    ) -> Result<Outcome, Failed> {
        let compressed = compress(source, staged, &self.options, &self.budget())
            .map_err(|error| translate::failure(error, self.limits.memory))?;
        let mut outcome = match compressed {
            Compressed::Written(written) => Outcome::Saved(self.saved(written, source, staged)?),
            Compressed::Kept(kept) => Outcome::Kept(keep(job, kept, source, staged)?),
        };
        translate::warn_of_name(job.source.as_path(), self.options.format, &mut outcome);
        Ok(outcome)
    }

    fn budget(&self) -> Budget {
        Budget::new(self.memory, self.limits.pixels)
    }

    fn saved(
        &self,
        written: Written,
        source: &SourceFile,
        staged: &mut Staged<'_>,
    ) -> Result<Saved, Failed> {
        let bytes = staged.finish()?;
        if bytes != written.bytes {
            return Err(Failed {
                kind: FailureKind::Verify,
                message: format!(
                    "the result has {bytes} bytes where {} were announced; please report this file",
                    written.bytes
                ),
            });
        }
        if self.in_place {
            self.check(&written, source, staged)?;
        }
        Ok(translate::saved(written))
    }

    /// What replaces an original is believed only after it was read back from where it will be taken.
    fn check(
        &self,
        written: &Written,
        source: &SourceFile,
        staged: &Staged<'_>,
    ) -> Result<(), Failed> {
        let stored = staged.stored()?;
        check(source, &stored, written, &self.options, &self.budget())
            .map_err(|error| translate::failure(error, self.limits.memory))
    }
}

/// Replacing one of a picture's names would leave the old picture under the others.
fn hard_linked(job: &Job, source: &SourceFile) -> Result<Outcome, Failed> {
    let format = recognise(source).map_err(|error| translate::failure(error, 0))?;
    Ok(Outcome::Kept(translate::hard_linked(
        format,
        job.identity.size,
    )))
}

fn keep(
    job: &Job,
    kept: pressroom_jobs::Kept,
    source: &SourceFile,
    staged: &mut Staged<'_>,
) -> Result<Kept, Failed> {
    if job.copy_kept {
        let copied = staged.copy(source.file())?;
        if copied != job.identity.size {
            return Err(FileError::Changed {
                path: job.source.as_path().to_path_buf(),
                what: "its size is another",
            }
            .into());
        }
    }
    Ok(translate::kept(kept, job.identity.size))
}

/// Does a job's work and answers whether this process is fit for another.
///
/// The fence in `jobs` catches panics of codecs. What panics past it is a defect of ours, and what it left half done is
/// unknown: the row says crashed, and the process asks to be replaced.
pub(crate) fn net(work: impl FnOnce() -> Outcome) -> (Outcome, bool) {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(outcome) => (outcome, true),
        Err(payload) => (
            Outcome::Failed(translate::panicked(payload.as_ref())),
            false,
        ),
    }
}

#[cfg(test)]
mod tests;
