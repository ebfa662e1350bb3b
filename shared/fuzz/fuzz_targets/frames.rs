//! Any bytes, cut anywhere: the decoder answers the same as for the bytes in one piece, and never panics.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pressroom_shared::frame::{Decoder, FrameError};
use pressroom_shared::{ToSupervisor, ToWorker};
use serde::de::DeserializeOwned;

fn answers<T: DeserializeOwned>(pieces: &[&[u8]]) -> (Vec<T>, Option<FrameError>) {
    let mut decoder = Decoder::new();
    let mut messages = Vec::new();
    for piece in pieces {
        decoder.push(piece);
        loop {
            match decoder.next() {
                Ok(Some(message)) => messages.push(message),
                Ok(None) => break,
                Err(error) => return (messages, Some(error)),
            }
        }
    }
    (messages, None)
}

fn same<T: DeserializeOwned + PartialEq + std::fmt::Debug>(bytes: &[u8], cut: usize) {
    let (left, right) = bytes.split_at(cut);
    let bytewise: Vec<&[u8]> = bytes.chunks(1).collect();
    let whole = answers::<T>(&[bytes]);
    // NaN is not equal to itself, so what is printed is compared.
    assert_eq!(format!("{whole:?}"), format!("{:?}", answers::<T>(&[left, right])));
    assert_eq!(format!("{whole:?}"), format!("{:?}", answers::<T>(&bytewise)));
}

fuzz_target!(|bytes: &[u8]| {
    let cut = bytes.first().map_or(0, |byte| usize::from(*byte)).min(bytes.len());
    same::<ToSupervisor>(bytes, cut);
    same::<ToWorker>(bytes, cut);
    // The same bytes as the value of one frame, so that the fuzzer need not guess the length.
    let length = u32::try_from(bytes.len()).expect("libFuzzer's inputs are short");
    let framed = [&length.to_le_bytes(), bytes].concat();
    same::<ToSupervisor>(&framed, cut);
    same::<ToWorker>(&framed, cut);
});
