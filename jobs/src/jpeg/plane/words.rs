//! The words that hold a block's AC coefficients: writing, thinning, reading. Blocks and planes are not known here.

/// Room for the words of one block: 63 coefficients, each escaped, and two words that may be scribbled on.
pub const MAX_WORDS: usize = 128;
/// Ten-bit pattern that says the value follows in the next word.
const ESCAPE: u16 = 0x200;

/// How many times too large [`Words::moved`] gives values.
pub const MOVED: f32 = 64.0;

/// The non-zero AC coefficients of one block, as words.
#[derive(Debug, Clone, Copy)]
pub struct Words<'a>(&'a [u16]);

impl<'a> Words<'a> {
    /// Words as [`put_word`] wrote them.
    #[inline]
    pub fn new(words: &'a [u16]) -> Self {
        Self(words)
    }

    /// No coefficients at all.
    pub fn none() -> Self {
        Self(&[])
    }

    /// Zigzag indices and values times [`MOVED`], for those who multiply anyway.
    #[inline(always)]
    pub fn moved(self) -> Moved<'a> {
        Moved(self.0)
    }

    /// The words themselves.
    #[inline]
    pub fn as_slice(self) -> &'a [u16] {
        self.0
    }

    /// The next coefficient if its index is at most `last`; otherwise it stays.
    #[inline]
    pub fn next_up_to(&mut self, last: usize) -> Option<(usize, i16)> {
        let &word = self.0.first()?;
        if usize::from(word >> 10) > last {
            return None;
        }
        self.next()
    }

    /// All but the last coefficient, which must be there and not escaped.
    #[inline]
    pub fn without_last(self) -> Self {
        Self(&self.0[..self.0.len() - 1])
    }
}

impl Iterator for Words<'_> {
    /// Zigzag index and value.
    type Item = (usize, i16);

    #[inline]
    fn next(&mut self) -> Option<(usize, i16)> {
        let (&word, rest) = self.0.split_first()?;
        self.0 = rest;
        let index = usize::from(word >> 10);
        let low = word & 0x3ff;
        if low != ESCAPE {
            // Ten bits of two's complement, moved up and back down to extend the sign.
            return Some((index, ((low << 6) as i16) >> 6));
        }
        let (&value, rest) = self.0.split_first()?;
        self.0 = rest;
        Some((index, value as i16))
    }
}

/// Coefficients as [`Words::moved`] gives them.
#[derive(Debug, Clone)]
pub struct Moved<'a>(&'a [u16]);

impl Iterator for Moved<'_> {
    type Item = (usize, i32);

    #[inline(always)]
    fn next(&mut self) -> Option<(usize, i32)> {
        let (word, rest) = self.0.split_first()?;
        self.0 = rest;
        let index = usize::from(word >> 10);
        if word & 0x3ff == ESCAPE {
            let (value, rest) = self.0.split_first()?;
            self.0 = rest;
            return Some((index, i32::from(*value as i16) * MOVED as i32));
        }
        // Ten bits of two's complement at the top of sixteen: the sign is where it belongs.
        Some((index, i32::from((word << 6) as i16)))
    }
}

/// Writes one coefficient as words; returns how many were used (1 or 2).
#[inline]
pub fn put_word(out: &mut [u16], index: usize, value: i16) -> usize {
    let (pair, used) = pair::<false>(index, value);
    out[0] = pair as u16;
    if used > 1 {
        out[1] = (pair >> 16) as u16;
    }
    used
}

/// One coefficient as two words, the first in the lower half, and how many of them count (1 or 2): one if it `IS_SMALL`.
#[inline(always)]
pub(in crate::jpeg) fn pair<const IS_SMALL: bool>(index: usize, value: i16) -> (u32, usize) {
    let escaped = !IS_SMALL && !(-511..=511).contains(&value);
    let low = if escaped {
        ESCAPE
    } else {
        value as u16 & 0x3ff
    };
    let first = (index as u16) << 10 | low;
    (
        u32::from(value as u16) << 16 | u32::from(first),
        1 + usize::from(escaped),
    )
}

/// Writes two words at `at`, the lower half first; there must be room, which a block never lacks.
#[inline(always)]
pub(in crate::jpeg) fn put_pair(room: &mut [u16; MAX_WORDS], at: usize, words: u32) {
    let pair = room.get_mut(at..).and_then(<[u16]>::first_chunk_mut);
    if let Some(pair) = pair {
        *pair = [words as u16, (words >> 16) as u16];
    }
}

/// Takes the words below their index's floor in magnitude out of `room[..words]`; returns how many are left.
#[inline(always)]
pub(in crate::jpeg) fn thin(
    room: &mut [u16; MAX_WORDS],
    words: usize,
    floors: &[u16; 64],
) -> usize {
    let (mut read, mut kept) = (0, 0);
    while read < words {
        let word = room[read % MAX_WORDS];
        read += 1;
        let (index, low) = (usize::from(word >> 10), word & 0x3ff);
        // Written in any case and counted or not: which words stay is chance, and a branch would be guessed wrong.
        room[kept % MAX_WORDS] = word;
        if low != ESCAPE {
            let value = ((low << 6) as i16) >> 6;
            kept += usize::from(value.unsigned_abs() >= floors[index]);
            continue;
        }
        let value = room[read % MAX_WORDS] as i16;
        read += 1;
        if value.unsigned_abs() >= floors[index] {
            room[(kept + 1) % MAX_WORDS] = value as u16;
            kept += 2;
        }
    }
    kept
}
