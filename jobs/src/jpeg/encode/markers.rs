//! Marker segments of a result (T.81 B.2): picture header, tables, scan headers.

use crate::jpeg::frame::{Frame, QuantTable, Segment};
use crate::jpeg::huffman_out::Code;

/// How the coefficients of a result are coded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// One interleaved scan.
    Sequential,
    /// Spectral selection, with or without successive approximation.
    Progressive,
}

/// Whether a Huffman table is for DC or AC coefficients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// DC differences.
    Dc = 0,
    /// AC coefficients.
    Ac = 1,
}

/// Everything before the first Huffman table: SOI, `segments`, quantisation tables, frame header.
///
/// `tables` holds one table for each component; equal ones are written once.
pub fn picture_header(
    form: Form,
    frame: &Frame,
    tables: &[QuantTable],
    segments: &[&Segment],
) -> Vec<u8> {
    let mut out = vec![0xFF, 0xD8];
    for segment in segments {
        marker(&mut out, segment.marker, &segment.payload);
    }
    let (slots, numbers) = slots(tables);
    let mut payload = Vec::new();
    for (number, table) in (0_u8..).zip(&slots) {
        quantisation(&mut payload, number, table);
    }
    marker(&mut out, 0xDB, &payload);
    frame_header(&mut out, form, frame, &slots, &numbers);
    out
}

/// Distinct tables and, for each component, the number of its own.
fn slots(tables: &[QuantTable]) -> (Vec<&QuantTable>, Vec<u8>) {
    let mut slots: Vec<&QuantTable> = Vec::new();
    let numbers = tables
        .iter()
        .map(|table| {
            let found = slots.iter().position(|slot| *slot == table);
            found.unwrap_or_else(|| {
                slots.push(table);
                slots.len() - 1
            }) as u8
        })
        .collect();
    (slots, numbers)
}

fn quantisation(payload: &mut Vec<u8>, number: u8, table: &QuantTable) {
    let wide = is_wide(table);
    payload.push(u8::from(wide) << 4 | number);
    for step in table.0 {
        if wide {
            payload.extend(step.to_be_bytes());
        } else {
            payload.push(step as u8);
        }
    }
}

/// Whether a table needs 16-bit steps.
fn is_wide(table: &QuantTable) -> bool {
    table.0.iter().any(|&step| step > 255)
}

fn frame_header(
    out: &mut Vec<u8>,
    form: Form,
    frame: &Frame,
    slots: &[&QuantTable],
    numbers: &[u8],
) {
    let wide = slots.iter().any(|table| is_wide(table));
    let code = match form {
        // Baseline allows 8-bit steps only (T.81 table B.4); extended sequential is otherwise the same.
        Form::Sequential => 0xC0 + u8::from(wide),
        Form::Progressive => 0xC2,
    };
    let mut payload = vec![8];
    payload.extend(frame.height.to_be_bytes());
    payload.extend(frame.width.to_be_bytes());
    payload.push(frame.components.len() as u8);
    for (component, &number) in frame.components.iter().zip(numbers) {
        payload.extend([component.id, component.h << 4 | component.v, number]);
    }
    marker(out, code, &payload);
}

/// A DHT segment with all of `codes`: class, destination, code.
pub fn huffman_tables(codes: &[(Class, u8, &Code)]) -> Vec<u8> {
    let mut payload = Vec::new();
    for &(class, destination, code) in codes {
        payload.push((class as u8) << 4 | destination);
        payload.extend(code.counts);
        payload.extend(&code.symbols);
    }
    let mut out = Vec::new();
    marker(&mut out, 0xC4, &payload);
    out
}

/// A scan header: component identifier, DC table, AC table of each component; first and last zigzag index; bits that were
/// left before this scan (0 if it is the first) and that are left by it (Ah and Al of T.81 B.2.3).
pub fn scan_header(
    components: &[(u8, u8, u8)],
    (first, last): (u8, u8),
    (before, left): (u8, u8),
) -> Vec<u8> {
    let mut payload = vec![components.len() as u8];
    for &(id, dc, ac) in components {
        payload.extend([id, dc << 4 | ac]);
    }
    payload.extend([first, last, before << 4 | left]);
    let mut out = Vec::new();
    marker(&mut out, 0xDA, &payload);
    out
}

/// Bytes of a scan header.
pub fn scan_header_bytes(components: usize) -> u64 {
    8 + 2 * components as u64
}

/// The end of the picture.
pub const END: [u8; 2] = [0xFF, 0xD9];

/// Appends a marker with its segment; the payload is at most 65533 bytes.
fn marker(out: &mut Vec<u8>, code: u8, payload: &[u8]) {
    out.extend([0xFF, code]);
    out.extend((payload.len() as u16 + 2).to_be_bytes());
    out.extend_from_slice(payload);
}
