//! The boxes of an AVIF file (ISO/IEC 14496-12 and 23008-12): where the picture's bytes, its alpha and its metadata are, and
//! what is said about them. Whatever it does not understand but must (grids, layers, gain maps, crops) is refused by name.

mod lists;

use super::{corrupt, unsupported};
use crate::Error;
use lists::{Cursor, Item, cut_off, infos, owned, places, references};
use std::borrow::Cow;

type Name = [u8; 4];

/// What a file holds.
#[derive(Debug)]
pub(super) struct Stored<'a> {
    /// The picture as AV1.
    pub(super) colour: Cow<'a, [u8]>,
    /// Alpha as AV1.
    pub(super) alpha: Option<Cow<'a, [u8]>>,
    /// Width and height as stored.
    pub(super) size: (u32, u32),
    /// Primaries, transfer, matrix (ITU-T H.273), and whether the range is full; where the file says it.
    pub(super) nclx: Option<([u8; 3], bool)>,
    /// Colour profile.
    pub(super) icc: Option<Vec<u8>>,
    /// EXIF as a TIFF structure.
    pub(super) exif: Option<Vec<u8>>,
    /// XMP packet.
    pub(super) xmp: Option<Vec<u8>>,
    /// 1 to 8.
    pub(super) orientation: u8,
}

/// The first box of a name.
fn find<'a>(boxes: &[(Name, Cursor<'a>)], name: &Name) -> Option<Cursor<'a>> {
    let found = boxes.iter().find(|(other, _)| other == name);
    found.map(|(_, content)| *content)
}

fn need<'a>(boxes: &[(Name, Cursor<'a>)], name: &Name) -> Result<Cursor<'a>, Error> {
    let missing = || corrupt(format!("it has no {}", name.escape_ascii()));
    find(boxes, name).ok_or_else(missing)
}

/// Reads the boxes of `file`.
///
/// # Errors
/// [`Error::Corrupt`], [`Error::Unsupported`].
pub(super) fn read(file: &[u8]) -> Result<Stored<'_>, Error> {
    let top = Cursor(file).boxes()?;
    if find(&top, b"moov").is_some() {
        return Err(unsupported("an animated AVIF as a still picture"));
    }
    let mut meta = need(&top, b"meta")?;
    meta.version()?;
    let meta = Meta::read(&meta.boxes()?, file)?;
    meta.refuse_more_pictures()?;
    let primary = meta.item(meta.primary)?;
    let alpha = meta.alpha(primary.id)?;
    let own = meta.properties(primary.id)?;
    let Some(size) = own.size else {
        return Err(corrupt("its picture has no size"));
    };
    Ok(Stored {
        colour: meta.av1(primary)?,
        alpha: alpha.map(|item| meta.av1(item)).transpose()?,
        size,
        nclx: own.nclx,
        icc: own.icc,
        exif: meta
            .described(primary.id, b"Exif")
            .and_then(|bytes| tiff_of(&bytes)),
        xmp: meta.described(primary.id, b"mime").map(Cow::into_owned),
        orientation: own.orientation,
    })
}

/// EXIF behind the number that says where its TIFF structure begins.
fn tiff_of(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut cursor = Cursor(bytes);
    let skipped = cursor.number(4).ok()?;
    cursor.take(usize::try_from(skipped).ok()?).ok()?;
    Some(cursor.0.to_vec())
}

#[derive(Debug)]
struct Meta<'a> {
    primary: u32,
    items: Vec<Item<'a>>,
    /// Kind, from, to.
    references: Vec<(Name, u32, u32)>,
    properties: Vec<(Name, Cursor<'a>)>,
    /// Item, number of the property, whether it must be understood.
    owned: Vec<(u32, usize, bool)>,
}

impl<'a> Meta<'a> {
    fn read(boxes: &[(Name, Cursor<'a>)], file: &'a [u8]) -> Result<Self, Error> {
        let mut primary = need(boxes, b"pitm")?;
        let wide = primary.version()?.0 > 0;
        let inside = find(boxes, b"idat").map_or(&[][..], |data| data.0);
        let places = places(need(boxes, b"iloc")?, file, inside)?;
        let mut items = infos(need(boxes, b"iinf")?)?;
        for item in &mut items {
            let found = places.iter().find(|(id, _)| *id == item.id);
            item.pieces = found.map(|(_, pieces)| pieces.clone()).unwrap_or_default();
        }
        let list = need(boxes, b"iprp")?.boxes()?;
        Ok(Self {
            primary: primary.number(if wide { 4 } else { 2 })? as u32,
            items,
            references: find(boxes, b"iref").map_or(Ok(Vec::new()), references)?,
            properties: need(&list, b"ipco")?.boxes()?,
            owned: owned(need(&list, b"ipma")?)?,
        })
    }

    fn item(&self, id: u32) -> Result<&Item<'a>, Error> {
        let found = self.items.iter().find(|item| item.id == id);
        found.ok_or_else(|| corrupt("it has no primary picture"))
    }

    /// Pictures beside the primary one that are neither its alpha nor a small copy would be lost.
    fn refuse_more_pictures(&self) -> Result<(), Error> {
        for item in self.items.iter().filter(|item| item.id != self.primary) {
            let refers = |kind: &Name| {
                let mut references = self.references.iter();
                references.any(|(name, from, _)| name == kind && *from == item.id)
            };
            let what = match &item.kind {
                b"tmap" => "an AVIF with a gain map",
                b"av01" | b"grid" | b"iovl" if !refers(b"auxl") && !refers(b"thmb") => {
                    // Parts of a grid are named as such below.
                    let mut of = self.references.iter();
                    if of.any(|(name, _, to)| name == b"dimg" && *to == item.id) {
                        continue;
                    }
                    "an AVIF of several pictures"
                }
                _ => continue,
            };
            return Err(unsupported(what));
        }
        Ok(())
    }

    /// The item that is the picture's alpha.
    fn alpha(&self, of: u32) -> Result<Option<&Item<'a>>, Error> {
        let mut found = None;
        for (kind, from, to) in &self.references {
            if kind == b"prem" && *from == of {
                return Err(unsupported("an AVIF with alpha multiplied in"));
            }
            if kind != b"auxl" || *to != of {
                continue;
            }
            let kind = self.properties(*from)?.auxiliary.unwrap_or_default();
            if found.is_some() || !(kind == super::ALPHA_KIND || kind == super::OLD_ALPHA_KIND) {
                return Err(unsupported(
                    "an AVIF with further planes (depth and the like)",
                ));
            }
            found = Some(self.item(*from)?);
        }
        Ok(found)
    }

    /// The bytes of a picture, which must be plain AV1.
    fn av1(&self, item: &Item<'a>) -> Result<Cow<'a, [u8]>, Error> {
        match &item.kind {
            b"av01" => Ok(joined(&item.pieces)),
            b"grid" => Err(unsupported("an AVIF made of a grid of pictures")),
            b"iovl" => Err(unsupported("an AVIF made of pictures on top of each other")),
            other => {
                let kind = other.escape_ascii();
                Err(unsupported(format!(
                    "an AVIF whose picture is of kind {kind}"
                )))
            }
        }
    }

    /// The bytes of metadata of a kind about the picture.
    fn described(&self, of: u32, kind: &Name) -> Option<Cow<'a, [u8]>> {
        let about = |item: &&Item<'a>| {
            let mut references = self.references.iter();
            references.any(|(name, from, to)| name == b"cdsc" && *from == item.id && *to == of)
        };
        let xmp =
            |item: &&Item<'a>| kind != b"mime" || item.content.starts_with(b"application/rdf+xml");
        let mut items = self.items.iter().filter(|item| item.kind == *kind);
        let item = items.find(|item| about(item) && xmp(item))?;
        Some(joined(&item.pieces)).filter(|bytes| !bytes.is_empty())
    }

    fn properties(&self, of: u32) -> Result<Properties, Error> {
        let mut own = Properties {
            orientation: 1,
            ..Properties::default()
        };
        let mut turns = Vec::new();
        for (_, number, essential) in self.owned.iter().filter(|(item, ..)| *item == of) {
            if *number == 0 {
                continue;
            }
            let (name, content) = self
                .properties
                .get(number - 1)
                .ok_or_else(|| corrupt("a property is missing"))?;
            own.add(name, *content, *essential, &mut turns)?;
        }
        own.orientation = orientation(&turns);
        Ok(own)
    }
}

/// What is said about an item.
#[derive(Debug, Default)]
struct Properties {
    size: Option<(u32, u32)>,
    nclx: Option<([u8; 3], bool)>,
    icc: Option<Vec<u8>>,
    auxiliary: Option<Vec<u8>>,
    orientation: u8,
}

/// A change of direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turning {
    /// Quarter turns against the clock.
    Turn(u8),
    /// 0 swaps top and bottom, 1 left and right.
    Mirror(u8),
}

impl Properties {
    fn add(
        &mut self,
        name: &Name,
        mut content: Cursor<'_>,
        essential: bool,
        turns: &mut Vec<Turning>,
    ) -> Result<(), Error> {
        match name {
            b"ispe" => {
                content.version()?;
                self.size = Some((content.number(4)? as u32, content.number(4)? as u32));
            }
            b"colr" => self.colours(content)?,
            b"auxC" => {
                content.version()?;
                let end = content.0.iter().position(|&byte| byte == 0);
                let kind = content.0.get(..=end.ok_or_else(cut_off)?);
                self.auxiliary = kind.map(<[u8]>::to_vec);
            }
            b"irot" => turns.push(Turning::Turn(content.number(1)? as u8 & 3)),
            b"imir" => turns.push(Turning::Mirror(content.number(1)? as u8 & 1)),
            b"clap" => return Err(unsupported("an AVIF with a crop (clean aperture)")),
            b"pasp" => {
                let square = content.number(4)? == content.number(4)?;
                square
                    .then_some(())
                    .ok_or_else(|| unsupported("an AVIF of pixels that are not square"))?;
            }
            b"av1C" | b"pixi" => {}
            other if essential => {
                let what = other.escape_ascii();
                return Err(unsupported(format!("an AVIF with the property {what}")));
            }
            _ => {}
        }
        Ok(())
    }

    fn colours(&mut self, mut content: Cursor<'_>) -> Result<(), Error> {
        match &content.name()? {
            b"nclx" => {
                let mut numbers = [0; 3];
                for number in &mut numbers {
                    *number = u8::try_from(content.number(2)?).unwrap_or(u8::MAX);
                }
                self.nclx = Some((numbers, content.number(1)? & 0x80 != 0));
            }
            b"prof" | b"rICC" => self.icc = Some(content.0.to_vec()),
            _ => {}
        }
        Ok(())
    }
}

/// EXIF's number for turns and mirrors, one after the other.
fn orientation(turns: &[Turning]) -> u8 {
    /// By quarter turns against the clock, then: no mirror, top and bottom, left and right.
    const NUMBERS: [[u8; 3]; 4] = [[1, 4, 2], [8, 5, 7], [3, 2, 4], [6, 7, 5]];
    let (mut quarters, mut mirror) = (0, None);
    for turning in turns {
        match (*turning, mirror) {
            (Turning::Turn(by), None) => quarters = (quarters + by) % 4,
            // A mirror first and a turn then is the turn the other way first.
            (Turning::Turn(by), Some(_)) => quarters = (quarters + 4 - by) % 4,
            (Turning::Mirror(axis), None) => mirror = Some(axis),
            (Turning::Mirror(axis), Some(before)) => {
                // Two mirrors are none, or half a turn.
                quarters = if axis == before {
                    quarters
                } else {
                    (quarters + 2) % 4
                };
                mirror = None;
            }
        }
    }
    NUMBERS[usize::from(quarters)][mirror.map_or(0, |axis| usize::from(axis) + 1)]
}

fn joined<'a>(pieces: &[&'a [u8]]) -> Cow<'a, [u8]> {
    match pieces {
        [one] => Cow::Borrowed(one),
        many => Cow::Owned(many.concat()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_and_mirrors_in_any_order_are_told() {
        use Turning::{Mirror, Turn};
        assert_eq!(orientation(&[]), 1);
        assert_eq!(orientation(&[Turn(3)]), 6);
        assert_eq!(orientation(&[Turn(1), Mirror(0)]), 5);
        // Left and right swapped, then a quarter against the clock: 0,0 of the file ends up at the lower right.
        assert_eq!(orientation(&[Mirror(1), Turn(1)]), 5);
        assert_eq!(orientation(&[Mirror(0), Mirror(1)]), 3);
        assert_eq!(orientation(&[Mirror(1), Mirror(1)]), 1);
    }
}
