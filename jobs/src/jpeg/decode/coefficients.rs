//! The AC coefficients of a block in a sequential scan (T.81 F.2.2.2): those that are kept, and the passing over of what lies
//! behind the last of them. Blocks, planes and DC values are not known here.

use super::ac_table::{AcTable, ONE, TailTable, UPPER, WINDOW};
use super::fault::Fault;
use super::feed::{Cursor, Feed};
use super::huffman::{Code, Lookup, extend};
use crate::jpeg::plane::{MAX_WORDS, put_pair, put_word};

/// Most bits of an AC value: one more than T.81 allows for eight-bit samples.
pub(super) const AC_BITS: u32 = 11;

/// Table lookups between two refills: with a symbol outside of the table (27 bits) they fit into 56 bits.
const LOOKUPS: u32 = 1 + (56 - 16 - AC_BITS) / WINDOW;

/// The codes of a component, ready for use.
pub(super) struct Codes {
    pub(super) dc: Lookup,
    ac: Lookup,
    table: AcTable,
    /// Values below are dropped everywhere, so the table skips them.
    floor: u16,
    tail: Option<Tail>,
}

/// What lies behind the last coefficient that is kept.
struct Tail {
    /// The first index of it.
    from: usize,
    table: TailTable,
}

impl Codes {
    /// Drops values below the floor and what lies from the tail on. `tables` says whether there is data enough to make up for
    /// the making of tables.
    pub(super) fn new(
        dc: &Code,
        ac: &Code,
        (floor, tail): (u16, Option<usize>),
        tables: bool,
    ) -> Self {
        let ac = Lookup::new(ac);
        Self {
            dc: Lookup::new(dc),
            table: if tables {
                AcTable::new(&ac, floor)
            } else {
                AcTable::unknowing()
            },
            tail: tail.filter(|_| tables).map(|from| Tail {
                from,
                table: TailTable::new(&ac),
            }),
            ac,
            floor,
        }
    }

    /// What is dropped: values below a floor, and all from an index on.
    pub(super) fn dropped(&self) -> (u16, Option<usize>) {
        (self.floor, self.tail.as_ref().map(|tail| tail.from))
    }

    /// A symbol that no table holds: a coefficient's index and value (0 for sixteen zeros), `None` at the block's end.
    #[inline(always)]
    fn symbol(&self, cursor: &mut Cursor, index: u32) -> Result<Option<(u32, i32)>, Fault> {
        let (length, symbol) = self.ac.symbol(cursor.acc).ok_or(Fault::Code)?;
        cursor.consume(length);
        let (run, size) = (u32::from(symbol >> 4), u32::from(symbol & 15));
        if size == 0 && run < 15 {
            return Ok(None);
        }
        if index + run > 63 {
            return Err(Fault::Run);
        }
        if size > AC_BITS {
            return Err(Fault::Range);
        }
        let value = extend(cursor.acc, size);
        cursor.consume(size);
        Ok(Some((index + run, value)))
    }
}

/// The coefficients of a block as words; returns how many there are. `TAILS` says whether there may be tails.
#[inline(always)]
pub(super) fn coefficients<const TAILS: bool>(
    feed: &mut Feed<'_>,
    cursor: &mut Cursor,
    codes: &Codes,
    room: &mut [u16; MAX_WORDS],
) -> Result<usize, Fault> {
    let tail = if TAILS { codes.tail.as_ref() } else { None };
    let from = tail.map_or(u32::MAX, |tail| tail.from as u32 * ONE);
    let (mut at, mut words) = (ONE, 0);
    loop {
        cursor.refill(feed);
        let mut entry = codes.table.entry(cursor.acc);
        // Most lookups stay within the block; a few of them and a long symbol fit one refill.
        'within: loop {
            for _ in 0..LOOKUPS {
                if let Some(tail) = tail
                    && at >= from
                {
                    pass(feed, cursor, codes, &tail.table, at)?;
                    return Ok(words);
                }
                let Some(next) = entry.next(at) else {
                    break 'within;
                };
                put_pair(room, words, entry.words(at));
                words += entry.count();
                cursor.consume(entry.bits());
                at = next;
                // Looked up before the refill, which it need not wait for.
                entry = codes.table.entry(cursor.acc);
            }
            cursor.refill(feed);
        }
        let index = at >> UPPER;
        if entry.ends(index) {
            put_pair(room, words, entry.words(at));
            cursor.consume(entry.bits());
            return Ok(words + entry.count());
        }
        let Some((index, value)) = codes.symbol(cursor, index)? else {
            return Ok(words);
        };
        if value != 0 && value.unsigned_abs() >= u32::from(codes.floor) {
            words += put_word(&mut room[words..], index as usize, value as i16);
        }
        if index == 63 {
            return Ok(words);
        }
        at = (index + 1) * ONE;
    }
}

/// Passes over the rest of a block from index `at` (times [`ONE`]) on.
#[inline(always)]
fn pass(
    feed: &mut Feed<'_>,
    cursor: &mut Cursor,
    codes: &Codes,
    table: &TailTable,
    mut at: u32,
) -> Result<(), Fault> {
    loop {
        cursor.refill(feed);
        let mut entry = table.entry(cursor.acc);
        'within: loop {
            for _ in 0..LOOKUPS {
                let Some(next) = entry.next(at) else {
                    break 'within;
                };
                cursor.consume(entry.bits());
                at = next;
                entry = table.entry(cursor.acc);
            }
            cursor.refill(feed);
        }
        let index = at >> UPPER;
        if entry.ends(index) {
            cursor.consume(entry.bits());
            return Ok(());
        }
        match codes.symbol(cursor, index)? {
            None | Some((63, _)) => return Ok(()),
            Some((index, _)) => at = (index + 1) * ONE,
        }
    }
}
