//! An XMP packet (ISO 16684-1) as text: properties of one kind are blanked with spaces, so that lengths and offsets stay.
//!
//! Not an XML parser: it walks tags and attributes, which is enough to find a property in either of its two forms (attribute
//! of a description, or an element of its own) whatever prefix stands before its name.

use super::Damaged;
use std::ops::Range;

/// Which properties to blank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Property {
    /// Latitude, longitude, altitude and the like.
    Position,
    /// Gain map parameters and the gain map's entry in the container directory.
    GainMap,
    /// Motion photo marks and the video's entry in the container directory.
    Motion,
    /// Embedded small pictures.
    Thumbnail,
}

impl Property {
    /// Whether a qualified name belongs to the kind.
    fn is(self, name: &[u8]) -> bool {
        let split = name.iter().position(|&byte| byte == b':');
        let (prefix, local) = split.map_or((&name[..0], name), |at| (&name[..at], &name[at + 1..]));
        let starts = |word: &[u8]| {
            local.len() >= word.len() && local[..word.len()].eq_ignore_ascii_case(word)
        };
        match self {
            Self::Position => {
                starts(b"gps")
                    || (prefix == b"geo" && (starts(b"lat") || starts(b"lon") || starts(b"alt")))
            }
            Self::GainMap => prefix == b"hdrgm" || prefix == b"HDRGainMap",
            Self::Motion => starts(b"MotionPhoto") || starts(b"MicroVideo"),
            Self::Thumbnail => name == b"xmp:Thumbnails" || name == b"xap:Thumbnails",
        }
    }

    /// What marks an entry of the container directory that goes too.
    fn entry_mark(self) -> Option<&'static [u8]> {
        match self {
            Self::GainMap => Some(b"\"GainMap\""),
            Self::Motion => Some(b"\"MotionPhoto\""),
            Self::Position | Self::Thumbnail => None,
        }
    }
}

/// Makes the packet say that the picture is upright, in either form of the property.
pub(super) fn set_upright(text: &mut [u8]) {
    const NAME: &[u8] = b"tiff:Orientation";
    let mut at = 0;
    while let Some(found) = text[at..]
        .windows(NAME.len())
        .position(|window| window == NAME)
    {
        at += found + NAME.len();
        let rest = &text[at..];
        let quoted = |byte: &&u8| !matches!(byte, b'=' | b'"' | b'\'' | b'>' | b' ');
        let value = at + rest.iter().take(4).take_while(|byte| !quoted(byte)).count();
        if let Some(digit) = text
            .get_mut(value)
            .filter(|digit| matches!(digit, b'1'..=b'8'))
        {
            *digit = b'1';
        }
    }
}

/// Blanks all properties of a kind; says whether there were any.
///
/// # Errors
/// [`Damaged`] where the text is no XML that can be walked, UTF-16 included.
pub(super) fn blank(text: &mut [u8], property: Property) -> Result<bool, Damaged> {
    if text.contains(&0) {
        return Err(Damaged);
    }
    let ranges = find(text, property)?;
    for range in &ranges {
        for byte in &mut text[range.clone()] {
            if !byte.is_ascii_whitespace() {
                *byte = b' ';
            }
        }
    }
    Ok(!ranges.is_empty())
}

/// Where the properties stand.
fn find(text: &[u8], property: Property) -> Result<Vec<Range<usize>>, Damaged> {
    let mut ranges = Vec::new();
    let mut at = 0;
    while let Some(open) = position(text, at, b"<") {
        let tag = Tag::read(text, open)?;
        at = tag.range.end;
        if !tag.is_start {
            continue;
        }
        if property.is(&text[tag.name.clone()]) {
            at = tag.element_end(text)?;
            ranges.push(open..at);
        } else if &text[tag.name.clone()] == b"rdf:li" && property.entry_mark().is_some() {
            let end = tag.element_end(text)?;
            let inside = &text[open..end];
            let nested = count(inside, b"<rdf:li") > 1;
            if !nested
                && property
                    .entry_mark()
                    .is_some_and(|mark| count(inside, mark) > 0)
            {
                at = end;
                ranges.push(open..end);
            }
        } else {
            ranges.extend(
                tag.attributes(text)?
                    .into_iter()
                    .filter(|(name, _)| property.is(&text[name.clone()]))
                    .map(|(_, all)| all),
            );
        }
    }
    Ok(ranges)
}

/// Name and whole extent of an attribute.
type Attribute = (Range<usize>, Range<usize>);

/// A tag, comment, declaration or instruction.
struct Tag {
    range: Range<usize>,
    name: Range<usize>,
    is_start: bool,
    is_empty: bool,
}

impl Tag {
    fn read(text: &[u8], open: usize) -> Result<Self, Damaged> {
        let rest = &text[open..];
        for (start, end) in [
            (b"<!--".as_slice(), b"-->".as_slice()),
            (b"<![CDATA[", b"]]>"),
            (b"<?", b"?>"),
            (b"<!", b">"),
            (b"</", b">"),
        ] {
            if rest.starts_with(start) {
                let close = position(text, open, end).ok_or(Damaged)? + end.len();
                return Ok(Self {
                    range: open..close,
                    name: open..open,
                    is_start: false,
                    is_empty: true,
                });
            }
        }
        let close = Self::close(text, open)?;
        let is_empty = text[close - 1] == b'/';
        let end_of_name = (open + 1..close)
            .find(|&at| text[at].is_ascii_whitespace() || text[at] == b'/')
            .unwrap_or(close);
        Ok(Self {
            range: open..close + 1,
            name: open + 1..end_of_name,
            is_start: true,
            is_empty,
        })
    }

    /// The `>` that ends a start tag; quoted ones do not count.
    fn close(text: &[u8], open: usize) -> Result<usize, Damaged> {
        let mut quote = None;
        for (at, &byte) in text.iter().enumerate().skip(open) {
            match (quote, byte) {
                (Some(mark), byte) if byte == mark => quote = None,
                (None, b'"' | b'\'') => quote = Some(byte),
                (None, b'>') => return Ok(at),
                (Some(_) | None, _) => {}
            }
        }
        Err(Damaged)
    }

    /// Where the element ends: behind this tag if it is empty, else behind the end tag of the same depth.
    fn element_end(&self, text: &[u8]) -> Result<usize, Damaged> {
        if self.is_empty {
            return Ok(self.range.end);
        }
        let name = &text[self.name.clone()];
        let end_tag = [b"</", name].concat();
        let (mut depth, mut at) = (1, self.range.end);
        while let Some(open) = position(text, at, b"<") {
            let tag = Self::read(text, open)?;
            at = tag.range.end;
            if tag.is_start && !tag.is_empty && &text[tag.name] == name {
                depth += 1;
            } else if text[open..].starts_with(&end_tag)
                && !text[open + end_tag.len()].is_ascii_alphanumeric()
            {
                depth -= 1;
            }
            if depth == 0 {
                return Ok(at);
            }
        }
        Err(Damaged)
    }

    /// Name and whole extent of every attribute.
    fn attributes(&self, text: &[u8]) -> Result<Vec<Attribute>, Damaged> {
        let mut found = Vec::new();
        let mut at = self.name.end;
        let end = self.range.end - 1;
        while let Some(start) =
            (at..end).find(|&at| !text[at].is_ascii_whitespace() && text[at] != b'/')
        {
            let equals = (start..end).find(|&at| text[at] == b'=').ok_or(Damaged)?;
            let open = (equals + 1..end)
                .find(|&at| !text[at].is_ascii_whitespace())
                .ok_or(Damaged)?;
            if !matches!(text[open], b'"' | b'\'') {
                return Err(Damaged);
            }
            let close = (open + 1..end)
                .find(|&at| text[at] == text[open])
                .ok_or(Damaged)?;
            let name = text[start..equals].trim_ascii_end().len();
            found.push((start..start + name, start..close + 1));
            at = close + 1;
        }
        Ok(found)
    }
}

fn position(text: &[u8], from: usize, word: &[u8]) -> Option<usize> {
    let rest = text.get(from..)?;
    rest.windows(word.len())
        .position(|window| window == word)
        .map(|at| from + at)
}

fn count(text: &[u8], word: &[u8]) -> usize {
    text.windows(word.len())
        .filter(|window| *window == word)
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn blanked(text: &str, property: Property) -> String {
        let mut bytes = text.as_bytes().to_vec();
        blank(&mut bytes, property).expect("well formed");
        assert_eq!(bytes.len(), text.len());
        let words = String::from_utf8(bytes).expect("still text");
        words.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn positions_go_in_both_forms() {
        let text = "<rdf:Description dc:a='>' exif:GPSLatitude='1,2N' exif:ISO=\"3\">\
            <exif:GPSLongitude>4</exif:GPSLongitude><exif:GPSInfo><rdf:li>5</rdf:li></exif:GPSInfo><geo:lat/></rdf:Description>";
        assert_eq!(
            blanked(text, Property::Position),
            "<rdf:Description dc:a='>' exif:ISO=\"3\"> </rdf:Description>"
        );
    }

    #[test]
    fn a_directory_loses_the_entry_that_goes_and_keeps_the_others() {
        let entry = |name: &str| {
            format!(
                "<rdf:li rdf:parseType=\"Resource\"><Container:Item Item:Semantic=\"{name}\"/></rdf:li>"
            )
        };
        let text = format!(
            "<x hdrgm:Version=\"1.0\"><rdf:Seq>{}{}</rdf:Seq></x>",
            entry("Primary"),
            entry("GainMap")
        );
        let left = blanked(&text, Property::GainMap);
        assert!(left.contains("Primary") && !left.contains("GainMap") && !left.contains("hdrgm"));
        let motion = blanked(&text, Property::Motion);
        assert_eq!(motion, text);
    }

    #[test]
    fn what_cannot_be_walked_is_said() {
        for text in [
            b"<a b=c>".as_slice(),
            b"<a ",
            b"<exif:GPSLatitude>4",
            b"<\0a\0>",
        ] {
            assert_eq!(
                blank(&mut text.to_vec(), Property::Position),
                Err(Damaged),
                "{}",
                text.escape_ascii()
            );
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "[<>/a:='\" !?-]{0,60}", gps in "(<exif:GPSA|exif:GPSB='|)") {
            let mut bytes = format!("{text}{gps}{text}").into_bytes();
            let _ = blank(&mut bytes, Property::Position);
            let _ = blank(&mut bytes, Property::GainMap);
        }
    }
}
