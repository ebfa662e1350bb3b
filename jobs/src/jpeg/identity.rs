//! The same coefficients in fewer bytes: in the smaller form, and there in the scans that suit the picture.

use super::compress::Job;
use super::decode::{Decoder, Survivors};
use super::encode::markers::Form;
use super::encode::script::{self, Search};
use super::encode::{Counted, Picture};
use super::outcome::{Reached, kept};
use super::prepare::Prepared;
use crate::{Compressed, Error, Keep, Progressive, Sink};

/// Effort from which on the scans of a result with the same coefficients are chosen for each file.
const SCRIPT_EFFORT: u8 = 3;
/// The same from among all that are known.
const EVERY_SCRIPT_EFFORT: u8 = 7;

impl Job<'_> {
    /// The same coefficients, coded better.
    pub(super) fn lossless(&self, sink: &mut dyn Sink) -> Result<Compressed, Error> {
        let decoder = Decoder::open(self.source, self.budget)?;
        if self.by_rows(decoder.header(), true) {
            return self.lossless_rows(decoder.header(), sink);
        }
        let opened = match self.open(decoder, &Survivors::all())? {
            Ok(opened) => opened,
            Err(kept) => return Ok(kept),
        };
        match self.identity(&opened.picture, u64::MAX, sink)? {
            Some(bytes) => self.finish(opened.around, Reached::lossless(bytes), sink),
            None => Ok(kept(Keep::NotSmaller, opened.around.notes)),
        }
    }

    /// Writes the coefficients as they are in the smaller form, unless that takes more than `limit` bytes.
    pub(super) fn identity(
        &self,
        picture: &Prepared,
        limit: u64,
        sink: &mut dyn Sink,
    ) -> Result<Option<u64>, Error> {
        let views: Vec<_> = picture.views().into_iter().map(|view| vec![view]).collect();
        let segments = picture.segments();
        let whole = Picture {
            frame: &picture.frame,
            tables: &picture.tables,
            roles: &picture.roles,
            segments: &segments,
            views: &views,
        };
        let forms: &[Form] = match self.options.progressive {
            Progressive::Auto => &[Form::Sequential, Form::Progressive],
            Progressive::On => &[Form::Progressive],
            Progressive::Off => &[Form::Sequential],
        };
        let mut best = None;
        for &form in forms {
            let counted = self.scans(&whole, form)?;
            let bytes = whole.bytes(&counted);
            if best.as_ref().is_none_or(|&(_, least)| bytes < least) {
                best = Some((counted, bytes));
            }
        }
        let Some((counted, _)) = best.filter(|&(_, bytes)| bytes <= limit) else {
            return Ok(None);
        };
        let bytes = whole.write(&counted, sink)?;
        if bytes > limit {
            sink.restart().map_err(Error::Write)?;
            return Ok(None);
        }
        Ok(Some(bytes))
    }

    /// Counts the picture in the best scans of `form` that the effort allows.
    fn scans(&self, whole: &Picture<'_>, form: Form) -> Result<Counted, Error> {
        if form == Form::Sequential || self.options.effort < SCRIPT_EFFORT {
            return whole.count(form);
        }
        let search = if self.options.effort < EVERY_SCRIPT_EFFORT {
            Search::Quick
        } else {
            Search::Every
        };
        script::smallest(whole, search)
    }
}
