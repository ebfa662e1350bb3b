//! One batch: publish, note, rename, record, in the order that survives a kill or a power cut at any point.

use super::{Publish, RecorderError, Request};
use crate::ledger::{Entry, Intent, LedgerError, Row, Writer};
use crate::publish::{Files, Parcel, Publisher};
use crate::task::Record;
use pressroom_shared::{Failed, FailureKind};
use std::path::{Path, PathBuf};

/// Does all requests and returns their records, which are safe then.
///
/// # Errors
/// The ledger cannot be written. Results that were renamed already stay noted in it and become rows at the next start.
pub(super) fn work<F: Files>(
    requests: Vec<Request>,
    writer: &mut Writer,
    publisher: &mut Publisher<F>,
) -> Result<Vec<Record>, RecorderError> {
    let (publishes, mut records) = sorted(requests);
    let mut parcels = prepared(publishes, writer, publisher);
    publisher.sync(&mut parcels);
    note(&mut parcels, writer, publisher)?;
    publisher.place(&mut parcels);
    let rows: Vec<Row> = parcels
        .iter()
        .map(|parcel| parcel.row(publisher.in_place()))
        .chain(records.iter().map(plain_row))
        .collect();
    writer.commit(&rows)?;
    records.extend(parcels.into_iter().map(|parcel| parcel.record));
    Ok(records)
}

fn sorted(requests: Vec<Request>) -> (Vec<Publish>, Vec<Record>) {
    let mut publishes = Vec::with_capacity(requests.len());
    let mut records = Vec::new();
    for request in requests {
        match request {
            Request::Publish(publish) => publishes.push(publish),
            Request::Record(record) => records.push(record),
        }
    }
    (publishes, records)
}

fn prepared<F: Files>(
    publishes: Vec<Publish>,
    writer: &Writer,
    publisher: &mut Publisher<F>,
) -> Vec<Parcel> {
    let known = |target: &Path| writer.ours(target).map_err(|error| unreadable(&error));
    publishes
        .into_iter()
        .map(|publish| publisher.prepare(publish, &known))
        .collect()
}

fn unreadable(error: &LedgerError) -> Failed {
    Failed {
        kind: FailureKind::Io,
        message: error.to_string(),
    }
}

/// Notes what is about to be renamed. Where the disk is too full for that, the results fail for the same reason an image
/// would: the run's own rule about a full disk then applies.
fn note<F: Files>(
    parcels: &mut [Parcel],
    writer: &mut Writer,
    publisher: &Publisher<F>,
) -> Result<(), RecorderError> {
    let notes: Vec<(Row, &Parcel, PathBuf)> = parcels
        .iter()
        .filter(|parcel| parcel.ready().is_some())
        .map(|parcel| {
            (
                parcel.row(publisher.in_place()),
                parcel,
                publisher.part(parcel),
            )
        })
        .collect();
    if notes.is_empty() {
        return Ok(());
    }
    let intents: Vec<Intent<'_>> = notes
        .iter()
        .map(|(row, parcel, part)| Intent {
            row,
            destination: parcel.destination(),
            part,
            backup: parcel.backup(),
        })
        .collect();
    let noted = writer.intend(&intents);
    drop(intents);
    drop(notes);
    match noted {
        Err(error @ LedgerError::Full { .. }) => {
            let failed = Failed {
                kind: FailureKind::DiskFull,
                message: error.to_string(),
            };
            publisher.give_up(parcels, &failed);
            Ok(())
        }
        Err(error) => {
            publisher.give_up(parcels, &unreadable(&error));
            Err(error.into())
        }
        Ok(()) => Ok(()),
    }
}

fn plain_row(record: &Record) -> Row {
    Row {
        entry: Entry::of(record),
        identity: record.task.identity,
        published: None,
    }
}
