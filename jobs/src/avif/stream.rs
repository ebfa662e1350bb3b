//! The pieces of an AV1 stream (OBUs; AV1 specification, section 5.3), as far as a file around it needs them. Decodes nothing.

const SEQUENCE_HEADER: u8 = 1;
const DELIMITER: u8 = 2;

/// Kind, payload and whole length of the first piece; `None` where it is cut off or has no length of its own.
fn first(stream: &[u8]) -> Option<(u8, &[u8], usize)> {
    let &head = stream.first()?;
    let start = if head & 4 == 0 { 1 } else { 2 };
    if head & 2 == 0 {
        return Some((head >> 3 & 15, stream.get(start..)?, stream.len()));
    }
    let (length, bytes) = leb128(stream.get(start..)?)?;
    let start = start + bytes;
    let end = start.checked_add(length)?;
    Some((head >> 3 & 15, stream.get(start..end)?, end))
}

/// A number of seven bits a byte, and how many bytes it took.
fn leb128(bytes: &[u8]) -> Option<(usize, usize)> {
    let mut value = 0_u64;
    for (n, &byte) in bytes.iter().take(8).enumerate() {
        value |= u64::from(byte & 0x7f) << (7 * n);
        if byte & 0x80 == 0 {
            return Some((usize::try_from(value).ok()?, n + 1));
        }
    }
    None
}

/// The pieces in order, as far as they make sense.
fn pieces(mut stream: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    std::iter::from_fn(move || {
        let (kind, payload, length) = first(stream)?;
        stream = &stream[length..];
        Some((kind, payload))
    })
}

/// The payload of the first sequence header.
pub(super) fn sequence_header(stream: &[u8]) -> Option<&[u8]> {
    pieces(stream).find_map(|(kind, payload)| (kind == SEQUENCE_HEADER).then_some(payload))
}

/// Whether all sequence headers say the same, so that what the first announces is all there will be.
pub(super) fn is_of_one_kind(stream: &[u8]) -> bool {
    let mut headers = pieces(stream).filter(|(kind, _)| *kind == SEQUENCE_HEADER);
    let Some(one) = headers.next() else {
        return false;
    };
    headers.all(|other| other == one)
}

/// Takes off the delimiter that an encoder puts first and a file must not have.
pub(super) fn without_delimiter(stream: &[u8]) -> &[u8] {
    match first(stream) {
        Some((DELIMITER, _, length)) => &stream[length..],
        Some(_) | None => stream,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A delimiter, a sequence header of two bytes, a frame of one that has no length of its own.
    const STREAM: &[u8] = &[0x12, 0, 0x0a, 2, 0x18, 0x40, 0x30, 7];

    #[test]
    fn pieces_are_found_and_cuts_end_them() {
        let all: Vec<_> = pieces(STREAM)
            .map(|(kind, bytes)| (kind, bytes.len()))
            .collect();
        assert_eq!(all, [(2, 0), (1, 2), (6, 1)]);
        assert_eq!(sequence_header(STREAM), Some(&[0x18, 0x40][..]));
        assert_eq!(without_delimiter(STREAM), &STREAM[2..]);
        assert_eq!(without_delimiter(&STREAM[2..]), &STREAM[2..]);
        assert_eq!(sequence_header(&STREAM[..5]), None);
        assert_eq!(
            first(&[0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1]),
            None
        );
    }

    #[test]
    fn a_second_header_that_says_something_else_is_noticed() {
        let twice = |second: u8| [&STREAM[2..6], &[0x0a, 2, 0x18, second]].concat();
        assert!(is_of_one_kind(&twice(0x40)));
        assert!(!is_of_one_kind(&twice(0x41)));
        assert!(!is_of_one_kind(&STREAM[..2]));
    }
}
