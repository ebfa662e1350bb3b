//! Any bytes that decode: written back they decode to the same coefficients; made smaller they still decode, without a
//! note and at the same size.
#![no_main]

#[path = "common.rs"]
mod common;
#[path = "options.rs"]
mod options;

use common::{Memory, blocks, budget};
use libfuzzer_sys::fuzz_target;
use options::options;
use pressroom_jobs::jpeg::decode::{Picture, Survivors, read};
use pressroom_jobs::jpeg::encode::markers::Form;
use pressroom_jobs::jpeg::encode::view::View;
use pressroom_jobs::jpeg::encode::{self, Counted, Role, script};
use pressroom_jobs::{Compressed, Error, compress};

fuzz_target!(|bytes: &[u8]| {
    let Ok(picture) = read(&Memory(bytes), &budget(), &Survivors::all()) else {
        return;
    };
    let ways: [Way; 3] = [
        |out| out.count(Form::Sequential),
        |out| out.count(Form::Progressive),
        |out| script::smallest(out, script::Search::Every),
    ];
    for way in ways {
        let again = write(&picture, way);
        let again = read(&Memory(&again), &budget(), &Survivors::all()).expect("own output");
        assert!(again.notes.is_empty());
        assert_eq!(blocks(&again.planes), blocks(&picture.planes));
        assert_eq!(again.tables, picture.tables);
        assert_eq!(again.segments, picture.segments);
    }
    let mut out = Vec::new();
    let done = compress(&Memory(bytes), &mut out, &options(bytes), &budget());
    if let Ok(Compressed::Written(written)) = done {
        assert_eq!(written.bytes, out.len() as u64);
        let small = read(&Memory(&out), &budget(), &Survivors::all()).expect("own output");
        assert!(small.notes.is_empty());
        let frame = &picture.frame;
        assert_eq!(
            (small.frame.width, small.frame.height),
            (frame.width, frame.height)
        );
    }
});

/// A choice of scans.
type Way = fn(&encode::Picture<'_>) -> Result<Counted, Error>;

/// The picture as it came.
fn write(picture: &Picture, way: Way) -> Vec<u8> {
    let pairs = picture.planes.iter().zip(&picture.frame.components);
    let views: Vec<_> = pairs
        .map(|(plane, component)| vec![View::whole(plane, component)])
        .collect();
    let roles: Vec<_> = (0..views.len())
        .map(|n| if n == 0 { Role::Detail } else { Role::Chroma })
        .collect();
    let segments: Vec<_> = picture.segments.iter().collect();
    let out = encode::Picture {
        frame: &picture.frame,
        tables: &picture.tables,
        roles: &roles,
        segments: &segments,
        views: &views,
    };
    let counted = way(&out).expect("counts");
    let mut bytes = Vec::new();
    out.write(&counted, &mut bytes)
        .expect("memory takes everything");
    bytes
}
