//! Fewer pixels where a size in bytes cannot be reached otherwise and the user allows that. Knows the sizes of pictures,
//! not how they are compressed.

use super::{Compressed, Keep, Kept, Note};
use crate::jpeg::quant::recipe::scale_of_quality;
use crate::{
    Budget, Error, Format, Options, Resize, Sink, Source, Wanted, gif, photo, png, raster, shrink,
    webp,
};

/// Compresses one picture of a known format.
pub(super) type Work =
    fn(Format, &dyn Source, &mut dyn Sink, &Options, &Budget) -> Result<Compressed, Error>;

/// Does `work`; where the size asked for cannot be reached and the picture may shrink, does it again with smaller bounds.
///
/// # Errors
/// Those of `work`.
pub(super) fn compress(
    format: Format,
    source: &dyn Source,
    sink: &mut dyn Sink,
    options: &Options,
    budget: &Budget,
    work: Work,
) -> Result<Compressed, Error> {
    let done = work(format, source, sink, options, budget)?;
    let done = with_word_on_pixels(done, format, source, options, budget)?;
    let Some(picture) = unfitted(format, source, options, &done, budget)? else {
        return Ok(done);
    };
    let scale_of = |quality| f64::from(scale_of_quality(quality));
    let done = shrink::fit(picture, scale_of, &mut |edge| {
        sink.restart().map_err(Error::Write)?;
        let asked = Options {
            resize: Resize {
                long_edge: Some(edge),
                ..options.resize
            },
            ..options.clone()
        };
        work(format, source, sink, &asked, &budget.afresh())
    })?;
    Ok(match done {
        Compressed::Written(mut written) => {
            let note = shrink::note(picture.size, options.min_quality, &written);
            written.notes.push(note);
            Compressed::Written(written)
        }
        Compressed::Kept(kept) => Compressed::Kept(kept),
    })
}

/// Says where an original is kept that has more pixels than asked for.
fn with_word_on_pixels(
    mut done: Compressed,
    format: Format,
    source: &dyn Source,
    options: &Options,
    budget: &Budget,
) -> Result<Compressed, Error> {
    if let Compressed::Kept(kept) = &mut done
        && kept.why == Keep::NotSmaller
        && options.resize != Resize::default()
        && let Some((width, height, turned)) = size(format, source, options, &budget.afresh())?
        && shrink::size(width, height, turned, options.resize).is_some()
    {
        let what = format!(
            "pixels beyond the bounds asked for ({width}x{height} as before): fewer would take more bytes, and --force writes them"
        );
        kept.notes.push(Note::Stayed(what));
    }
    Ok(done)
}

/// The picture's size and what it must shrink to, where it may shrink and has to.
fn unfitted(
    format: Format,
    source: &dyn Source,
    options: &Options,
    done: &Compressed,
    budget: &Budget,
) -> Result<Option<shrink::Unfitted>, Error> {
    let (
        Some(floor),
        Compressed::Kept(Kept {
            why: Keep::TargetUnreachable { target, smallest },
            ..
        }),
    ) = (options.shrink_to_fit, done)
    else {
        return Ok(None);
    };
    let Some((width, height, turned)) = size(format, source, options, &budget.afresh())? else {
        return Ok(None);
    };
    let bounded = shrink::size(width, height, turned, options.resize).unwrap_or((width, height));
    let picture = shrink::Unfitted {
        size: (width, height),
        edge: bounded.0.max(bounded.1),
        floor,
        target: *target,
        smallest: *smallest,
        coarsest: f64::from(scale_of_quality(options.min_quality)),
    };
    Ok((picture.edge > floor).then_some(picture))
}

/// Width and height as stored, and whether a person sees the picture lying on its side; `None` for what is not resized.
fn size(
    format: Format,
    source: &dyn Source,
    options: &Options,
    budget: &Budget,
) -> Result<Option<(u32, u32, bool)>, Error> {
    match format {
        Format::Jpeg => photo::size(source, budget).map(Some),
        Format::Png | Format::Apng => png::size(source, budget).map(Some),
        Format::Webp => webp::size(source, budget).map(Some),
        Format::Gif => gif::size(source, budget).map(Some),
        // As themselves these keep their size; as another format their pixels were read once already.
        Format::Tiff
        | Format::Bmp
        | Format::Qoi
        | Format::Pnm
        | Format::Ico
        | Format::Avif
        | Format::Jxl => {
            if options.format == Wanted::Same {
                return Ok(None);
            }
            let raster = raster::read(format, source, budget)?;
            let turned = raster.carried.orientation >= 5;
            Ok(Some((raster.width, raster.height, turned)))
        }
        Format::Heic | Format::Jp2 | Format::Psd | Format::Raw => Ok(None),
    }
}
