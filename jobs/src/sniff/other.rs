//! Names what is no image, so that a person knows what happened to the file without opening it.

/// What the bytes look like, to follow "looks like".
pub(super) fn describe(head: &[u8]) -> &'static str {
    by_magic(head)
        .or_else(|| by_text(head))
        .unwrap_or("unknown data")
}

/// Kinds of files with a fixed start that turn up among pictures.
fn by_magic(head: &[u8]) -> Option<&'static str> {
    const KNOWN: [(&[u8], &str); 22] = [
        (b"%PDF", "a PDF document"),
        (b"PK\x03\x04", "a ZIP archive"),
        (b"PK\x05\x06", "an empty ZIP archive"),
        (b"\x1f\x8b", "a gzip archive"),
        (b"BZh", "a bzip2 archive"),
        (b"\xfd7zXZ\0", "an xz archive"),
        (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
        (b"Rar!\x1a\x07", "a RAR archive"),
        (b"\x28\xb5\x2f\xfd", "a zstd archive"),
        (b"\x1a\x45\xdf\xa3", "a Matroska video"),
        (b"OggS", "an Ogg file"),
        (b"ID3", "an MP3 file"),
        (b"\x7fELF", "a program"),
        (b"MZ", "a Windows program"),
        (b"SQLite format 3\0", "an SQLite database"),
        // Thumbs.db and old Office files.
        (
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
            "an OLE document such as Thumbs.db",
        ),
        (
            b"\0\x05\x16\x07",
            "a macOS resource file (AppleDouble), not the picture itself",
        ),
        (b"\0\0\0\x01Bud1", "a macOS .DS_Store"),
        (b"%!PS", "a PostScript document"),
        (
            b"version https://git-lfs",
            "a Git LFS pointer, not the picture itself",
        ),
        (b"gimp xcf", "a GIMP document"),
        (
            b"\x76\x2f\x31\x01",
            "an OpenEXR picture, which is not known here",
        ),
    ];
    if head.starts_with(b"RIFF") {
        return Some("a RIFF file (sound or video)");
    }
    if head.iter().all(|&byte| byte == 0) {
        return Some("nothing but zero bytes");
    }
    let found = KNOWN.iter().find(|(magic, _)| head.starts_with(magic));
    found.map(|(_, name)| *name)
}

/// Kinds of text.
fn by_text(head: &[u8]) -> Option<&'static str> {
    if !is_text(head) {
        return None;
    }
    let start: Vec<u8> = head
        .trim_ascii_start()
        .iter()
        .take(512)
        .map(u8::to_ascii_lowercase)
        .collect();
    let start = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&start);
    let has = |word: &[u8]| start.windows(word.len()).any(|window| window == word);
    Some(match () {
        () if start.starts_with(b"<!doctype html")
            || start.starts_with(b"<html")
            || has(b"<head")
            || has(b"<body") =>
        {
            "an HTML page"
        }
        () if has(b"<svg") => "an SVG drawing",
        () if start.starts_with(b"<?xml") || start.starts_with(b"<") => "an XML document",
        () if start.starts_with(b"{") || start.starts_with(b"[") => "JSON",
        () => "text",
    })
}

/// UTF-8, possibly cut off at the end, without control characters other than white space.
fn is_text(head: &[u8]) -> bool {
    let valid = match str::from_utf8(head) {
        Ok(text) => text,
        Err(error) if head.len() - error.valid_up_to() < 4 && error.valid_up_to() > 0 => {
            str::from_utf8(&head[..error.valid_up_to()]).unwrap_or_default()
        }
        Err(_) => return false,
    };
    !valid
        .chars()
        .any(|letter| letter.is_control() && !letter.is_whitespace())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_image_is_named() {
        assert_eq!(describe(b"\n<!DOCTYPE html><title>404"), "an HTML page");
        assert_eq!(describe(b"<?xml version='1.0'?><svg>"), "an SVG drawing");
        assert_eq!(describe(b"<?xml version='1.0'?><feed>"), "an XML document");
        assert_eq!(describe(b"{\"error\": 404}"), "JSON");
        assert_eq!(describe("Grüße".as_bytes()), "text");
        assert_eq!(describe(&"é".as_bytes()[..1]), "unknown data");
        assert_eq!(describe(&[0; 100]), "nothing but zero bytes");
        assert_eq!(describe(b"PK\x03\x04...."), "a ZIP archive");
        assert_eq!(describe(b"\x01\x02\x03\xff"), "unknown data");
    }
}
