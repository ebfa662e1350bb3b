//! All scans of a file, found by passing over their data once: where each begins, what it holds, whether they make sense
//! together. Needed wherever one scan does not hold everything.

use super::feed::add_note;
use super::markers::{Markers, Stop};
use super::reader::corrupt;
use super::scan_header::Scan;
use crate::jpeg::frame::{Coding, Frame, MAX_COMPONENTS};
use crate::{Error, Note};

/// Decoded blocks, over all scans, that are always allowed: below a second of work.
const ALWAYS: u64 = 1 << 26;
/// Scans of each block that are allowed in larger pictures. The deepest script in use has about a dozen.
const DEPTH: u64 = 64;

/// How far each coefficient is known: by component and zigzag index, the bit position reached, or nothing yet.
struct Progress([[Option<u8>; 64]; MAX_COMPONENTS]);

/// Finds the scans from `first` on; the markers stand behind the end afterwards. Tells whether there was an end.
///
/// # Errors
/// [`Error::Corrupt`] where scans are missing or contradict each other, [`Error::Unsupported`] for a scan bomb.
pub(super) fn all_scans(
    markers: &mut Markers<'_>,
    frame: &Frame,
    first: Scan,
) -> Result<Vec<Scan>, Error> {
    let mut progress = Progress([[None; 64]; MAX_COMPONENTS]);
    let (mut scans, mut work) = (Vec::new(), 0);
    let mut stop = Stop::Scan(first);
    let ended = loop {
        match stop {
            Stop::End => break true,
            Stop::NoEnd => break false,
            Stop::Scan(mut scan) => {
                work += blocks(&scan, frame);
                admit(scans.len() + 1, work, frame)?;
                progress.advance(&scan, frame, &mut markers.notes)?;
                let end = markers.skip_data()?;
                scan.data_end = Some(end.unwrap_or(markers.reader.offset()));
                scans.push(scan);
                stop = markers.next()?;
            }
        }
    };
    progress.complete(frame, ended)?;
    if !ended {
        add_note(&mut markers.notes, "the end marker is missing".into());
    }
    Ok(scans)
}

/// Blocks that `scan` visits.
fn blocks(scan: &Scan, frame: &Frame) -> u64 {
    let parts = scan.parts.iter();
    let components = parts.map(|part| &frame.components[part.component]);
    components
        .map(|c| u64::from(c.padded_across) * u64::from(c.padded_down))
        .sum()
}

/// Ends files that are small to send and long to decode.
fn admit(scans: usize, work: u64, frame: &Frame) -> Result<(), Error> {
    let all: u64 = frame
        .components
        .iter()
        .map(|c| u64::from(c.padded_across) * u64::from(c.padded_down))
        .sum();
    if work > ALWAYS.max(all * DEPTH) {
        return Err(Error::Unsupported(format!(
            "a JPEG of {}x{} pixels in {scans} or more scans (a scan bomb)",
            frame.width, frame.height
        )));
    }
    Ok(())
}

impl Progress {
    fn advance(&mut self, scan: &Scan, frame: &Frame, notes: &mut Vec<Note>) -> Result<(), Error> {
        let expected = (scan.high > 0).then_some(scan.high);
        for part in &scan.parts {
            let known = &mut self.0[part.component];
            if scan.start > 0 && known[0].is_none() {
                add_note(
                    notes,
                    "a scan of AC coefficients comes before their DC".into(),
                );
            }
            for bits in &mut known[usize::from(scan.start)..=usize::from(scan.end)] {
                if *bits != expected {
                    let id = frame.components[part.component].id;
                    let offset = scan.data;
                    return Err(corrupt(format!(
                        "the scan before byte {offset} does not continue what came before of component {id}"
                    )));
                }
                *bits = Some(scan.low);
            }
        }
        Ok(())
    }

    /// Every component must have come, and wholly so if nothing says that this was all.
    fn complete(&self, frame: &Frame, ended: bool) -> Result<(), Error> {
        for (component, known) in frame.components.iter().zip(&self.0) {
            let missing = match (frame.coding, ended) {
                (Coding::Baseline | Coding::Extended, _) | (Coding::Progressive, true) => {
                    known[0].is_none()
                }
                (Coding::Progressive, false) => known.iter().any(|&bits| bits != Some(0)),
            };
            if missing {
                let id = component.id;
                return Err(corrupt(format!("scans of component {id} are missing")));
            }
        }
        Ok(())
    }
}
