//! Boxes one by one, and the lists in an AVIF's `meta`: where items are, what kinds they have, what refers to what, and which
//! properties belong to which. Says nothing about what any of it means.

use super::{Name, corrupt, unsupported};
use crate::Error;

/// Most items of a file, and most pieces of one.
const MOST_ITEMS: usize = 1024;
const MOST_PIECES: u64 = 256;

/// Bytes read from the front.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cursor<'a>(pub(super) &'a [u8]);

impl<'a> Cursor<'a> {
    pub(super) fn take(&mut self, count: usize) -> Result<&'a [u8], Error> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or_else(cut_off)?;
        self.0 = rest;
        Ok(taken)
    }

    /// A number of so many bytes (0 to 8).
    pub(super) fn number(&mut self, bytes: u8) -> Result<u64, Error> {
        let taken = self.take(bytes.into())?;
        Ok(taken
            .iter()
            .fold(0, |sum, &byte| sum << 8 | u64::from(byte)))
    }

    pub(super) fn name(&mut self) -> Result<Name, Error> {
        let taken = self.take(4)?;
        Ok([taken[0], taken[1], taken[2], taken[3]])
    }

    /// The next box.
    pub(super) fn next_box(&mut self) -> Result<Option<(Name, Cursor<'a>)>, Error> {
        if self.0.is_empty() {
            return Ok(None);
        }
        let size = self.number(4)?;
        let name = self.name()?;
        let length = match size {
            // To the end.
            0 => self.0.len() as u64,
            1 => self.number(8)?.checked_sub(16).ok_or_else(cut_off)?,
            size => size.checked_sub(8).ok_or_else(cut_off)?,
        };
        let length = usize::try_from(length).map_err(|_| cut_off())?;
        Ok(Some((name, Cursor(self.take(length)?))))
    }

    pub(super) fn boxes(mut self) -> Result<Vec<(Name, Cursor<'a>)>, Error> {
        let mut all = Vec::new();
        while let Some(found) = self.next_box()? {
            all.push(found);
        }
        Ok(all)
    }

    /// The version of a full box, and its lowest flag.
    pub(super) fn version(&mut self) -> Result<(u8, bool), Error> {
        let head = self.take(4)?;
        Ok((head[0], head[3] & 1 == 1))
    }
}

pub(super) fn cut_off() -> Error {
    corrupt("a box is cut off")
}

/// An item: its number, its kind, its kind of content, and where its bytes are.
#[derive(Debug)]
pub(super) struct Item<'a> {
    pub(super) id: u32,
    pub(super) kind: Name,
    pub(super) content: &'a [u8],
    pub(super) pieces: Vec<&'a [u8]>,
}

/// An item's number and its pieces.
pub(super) type Place<'a> = (u32, Vec<&'a [u8]>);

/// `iloc`: the pieces of each item.
pub(super) fn places<'a>(
    mut content: Cursor<'a>,
    file: &'a [u8],
    inside: &'a [u8],
) -> Result<Vec<Place<'a>>, Error> {
    let (version, _) = content.version()?;
    let sizes = content.number(2)?;
    let nibble = |shift: u32| (sizes >> shift & 15) as u8;
    let (offset, length, base) = (nibble(12), nibble(8), nibble(4));
    if [offset, length, base].iter().any(|&size| size > 8) || version > 2 {
        return Err(corrupt("its list of places makes no sense"));
    }
    let wide = if version < 2 { 2 } else { 4 };
    let index = if version == 0 { 0 } else { nibble(0).min(8) };
    let count = content.number(wide)?;
    let mut places = Vec::new();
    for _ in 0..count {
        let id = content.number(wide)? as u32;
        let method = if version > 0 {
            content.number(2)? & 15
        } else {
            0
        };
        if content.number(2)? != 0 {
            return Err(unsupported("an AVIF with its picture in another file"));
        }
        let data = match method {
            0 => file,
            1 => inside,
            _ => return Err(unsupported("an AVIF with items made of items")),
        };
        let base = content.number(base)?;
        let count = content.number(2)?;
        // Pieces may take no bytes of the list and all of the file each, so their number is bounded.
        if count > MOST_PIECES || places.len() > MOST_ITEMS {
            return Err(corrupt("its picture is in too many pieces"));
        }
        let mut pieces = Vec::new();
        for _ in 0..count {
            content.number(index)?;
            let start = base.saturating_add(content.number(offset)?);
            pieces.push(piece(data, start, content.number(length)?)?);
        }
        if pieces.iter().map(|piece| piece.len()).sum::<usize>() > file.len() {
            return Err(corrupt("the pieces of its picture are more than the file"));
        }
        places.push((id, pieces));
    }
    Ok(places)
}

/// A length of 0 means all of it.
fn piece(data: &[u8], start: u64, length: u64) -> Result<&[u8], Error> {
    let end = if length == 0 {
        data.len() as u64
    } else {
        start.saturating_add(length)
    };
    let range = usize::try_from(start).ok().zip(usize::try_from(end).ok());
    range
        .and_then(|(start, end)| data.get(start..end))
        .ok_or_else(|| corrupt("its picture is cut off"))
}

/// `iinf`: the items and their kinds.
pub(super) fn infos(mut content: Cursor<'_>) -> Result<Vec<Item<'_>>, Error> {
    let (version, _) = content.version()?;
    content.number(if version == 0 { 2 } else { 4 })?;
    let mut items = Vec::new();
    for (name, mut entry) in content.boxes()? {
        let (version, _) = entry.version()?;
        if &name != b"infe" || version < 2 {
            continue;
        }
        let id = entry.number(if version == 2 { 2 } else { 4 })? as u32;
        entry.number(2)?;
        let kind = entry.name()?;
        let end = entry.0.iter().position(|&byte| byte == 0);
        let content = end.map_or(&[][..], |end| &entry.0[end + 1..]);
        if items.len() >= MOST_ITEMS {
            return Err(unsupported("an AVIF of more than a thousand parts"));
        }
        items.push(Item {
            id,
            kind,
            content,
            pieces: Vec::new(),
        });
    }
    Ok(items)
}

/// `iref`: which item refers to which.
pub(super) fn references(mut content: Cursor<'_>) -> Result<Vec<(Name, u32, u32)>, Error> {
    let wide = if content.version()?.0 == 0 { 2 } else { 4 };
    let mut all = Vec::new();
    for (name, mut entry) in content.boxes()? {
        let from = entry.number(wide)? as u32;
        for _ in 0..entry.number(2)? {
            all.push((name, from, entry.number(wide)? as u32));
        }
    }
    Ok(all)
}

/// `ipma`: which item has which properties.
pub(super) fn owned(mut content: Cursor<'_>) -> Result<Vec<(u32, usize, bool)>, Error> {
    let (version, long) = content.version()?;
    let count = content.number(4)?;
    let mut all = Vec::new();
    for _ in 0..count {
        let item = content.number(if version == 0 { 2 } else { 4 })? as u32;
        for _ in 0..content.number(1)? {
            let (number, bit) = if long {
                (content.number(2)?, 15)
            } else {
                (content.number(1)?, 7)
            };
            let essential = number >> bit == 1;
            all.push((item, (number & !(1 << bit)) as usize, essential));
        }
    }
    Ok(all)
}
