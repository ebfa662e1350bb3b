//! What the components of a picture show, told by its markers the way libjpeg tells it.

use super::encode::Role;
use super::frame::{Frame, Segment};

const APP0: u8 = 0xE0;
const APP14: u8 = 0xEE;
const JFIF: &[u8] = b"JFIF\0";
const ADOBE: &[u8] = b"Adobe";
/// Offset of the transform flag in an Adobe segment.
const TRANSFORM: usize = 11;

/// Role of each component. Chroma is what an encoder made by a colour transform; a picture of unknown colours has none.
pub fn roles(frame: &Frame, segments: &[Segment]) -> Vec<Role> {
    let chroma = match frame.components.len() {
        3 => is_ycc(frame, segments),
        4 => adobe_transform(segments) == Some(2),
        _ => false,
    };
    let role = |c: usize| {
        if chroma && (c == 1 || c == 2) {
            Role::Chroma
        } else {
            Role::Detail
        }
    };
    (0..frame.components.len()).map(role).collect()
}

/// Whether Adobe's marker is there: ink is stored as what paper is left.
pub(crate) fn has_adobe(segments: &[Segment]) -> bool {
    adobe_transform(segments).is_some()
}

fn is_ycc(frame: &Frame, segments: &[Segment]) -> bool {
    let jfif = |s: &&Segment| s.marker == APP0 && s.payload.starts_with(JFIF);
    if segments.iter().any(|segment| jfif(&segment)) {
        return true;
    }
    if let Some(transform) = adobe_transform(segments) {
        return transform != 0;
    }
    let ids: Vec<u8> = frame
        .components
        .iter()
        .map(|component| component.id)
        .collect();
    ids != *b"RGB"
}

fn adobe_transform(segments: &[Segment]) -> Option<u8> {
    let adobe = segments
        .iter()
        .find(|s| s.marker == APP14 && s.payload.starts_with(ADOBE))?;
    adobe.payload.get(TRANSFORM).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jpeg::frame::Coding;

    fn frame(ids: &[u8]) -> Frame {
        let sampling: Vec<_> = ids.iter().map(|&id| (id, 1, 1, 0)).collect();
        Frame::new(Coding::Baseline, 8, 8, &sampling)
    }

    fn adobe(transform: u8) -> Segment {
        let payload = [ADOBE, &[0, 100, 0, 0, 0, 0, transform]].concat();
        Segment {
            marker: APP14,
            payload,
        }
    }

    #[test]
    fn chroma_is_where_libjpeg_sees_it() {
        let jfif = Segment {
            marker: APP0,
            payload: b"JFIF\0\x01\x02".to_vec(),
        };
        let has_chroma =
            |ids: &[u8], segments: &[Segment]| roles(&frame(ids), segments).contains(&Role::Chroma);
        assert!(has_chroma(&[1, 2, 3], &[]));
        assert!(has_chroma(&[0, 1, 2], &[]));
        assert!(!has_chroma(b"RGB", &[]));
        assert!(has_chroma(b"RGB", &[jfif]));
        assert!(!has_chroma(&[1, 2, 3], &[adobe(0)]));
        assert!(has_chroma(&[1, 2, 3], &[adobe(1)]));
        assert!(!has_chroma(&[1, 2, 3, 4], &[adobe(0)]));
        assert!(!has_chroma(&[1, 2, 3, 4], &[]));
        assert_eq!(
            roles(&frame(&[1, 2, 3, 4]), &[adobe(2)]),
            [Role::Detail, Role::Chroma, Role::Chroma, Role::Detail]
        );
        assert!(!has_chroma(&[1], &[]) && !has_chroma(&[1, 2], &[]));
    }
}
