//! XXH64: a fast 64-bit fingerprint, the same on every machine and in every version. Not for secrets: it tells accidents
//! apart, not attacks.
//!
//! Written from the algorithm's public specification; the test vectors are its own.

const PRIME: [u64; 5] = [
    0x9E37_79B1_85EB_CA87,
    0xC2B2_AE3D_27D4_EB4F,
    0x1656_67B1_9E37_79F9,
    0x85EB_CA77_C2B2_AE63,
    0x27D4_EB2F_1656_67C5,
];

/// Bytes one stripe holds: four lanes of eight.
const STRIPE: usize = 32;

/// Takes bytes in pieces of any size and gives their fingerprint.
#[derive(Debug, Clone)]
pub(crate) struct Hasher {
    lanes: [u64; 4],
    waiting: [u8; STRIPE],
    waiting_len: usize,
    total: u64,
}

impl Hasher {
    /// Nothing taken yet.
    pub(crate) fn new() -> Self {
        Self {
            lanes: [
                PRIME[0].wrapping_add(PRIME[1]),
                PRIME[1],
                0,
                0u64.wrapping_sub(PRIME[0]),
            ],
            waiting: [0; STRIPE],
            waiting_len: 0,
            total: 0,
        }
    }

    /// The fingerprint of one piece.
    pub(crate) fn of(bytes: &[u8]) -> u64 {
        let mut hasher = Self::new();
        hasher.push(bytes);
        hasher.finish()
    }

    /// Takes the next bytes.
    pub(crate) fn push(&mut self, mut bytes: &[u8]) {
        self.total += bytes.len() as u64;
        if self.waiting_len > 0 {
            let take = bytes.len().min(STRIPE - self.waiting_len);
            self.waiting[self.waiting_len..self.waiting_len + take].copy_from_slice(&bytes[..take]);
            self.waiting_len += take;
            bytes = &bytes[take..];
            if self.waiting_len < STRIPE {
                return;
            }
            let stripe = self.waiting;
            self.stripe(&stripe);
            self.waiting_len = 0;
        }
        let (stripes, rest) = bytes.as_chunks::<STRIPE>();
        for stripe in stripes {
            self.stripe(stripe);
        }
        self.waiting[..rest.len()].copy_from_slice(rest);
        self.waiting_len = rest.len();
    }

    fn stripe(&mut self, stripe: &[u8; STRIPE]) {
        let (words, _) = stripe.as_chunks::<8>();
        for (lane, word) in self.lanes.iter_mut().zip(words) {
            *lane = round(*lane, u64::from_le_bytes(*word));
        }
    }

    /// The fingerprint of all bytes taken.
    pub(crate) fn finish(&self) -> u64 {
        let mut hash = if self.total >= STRIPE as u64 {
            self.merged()
        } else {
            PRIME[4]
        };
        hash = hash.wrapping_add(self.total);
        avalanche(tail(hash, &self.waiting[..self.waiting_len]))
    }

    fn merged(&self) -> u64 {
        let [a, b, c, d] = self.lanes;
        let sum = a
            .rotate_left(1)
            .wrapping_add(b.rotate_left(7))
            .wrapping_add(c.rotate_left(12))
            .wrapping_add(d.rotate_left(18));
        self.lanes.iter().fold(sum, |hash, lane| {
            (hash ^ round(0, *lane))
                .wrapping_mul(PRIME[0])
                .wrapping_add(PRIME[3])
        })
    }
}

fn round(lane: u64, word: u64) -> u64 {
    lane.wrapping_add(word.wrapping_mul(PRIME[1]))
        .rotate_left(31)
        .wrapping_mul(PRIME[0])
}

fn tail(mut hash: u64, rest: &[u8]) -> u64 {
    let (words, rest) = rest.as_chunks::<8>();
    for word in words {
        hash = (hash ^ round(0, u64::from_le_bytes(*word)))
            .rotate_left(27)
            .wrapping_mul(PRIME[0])
            .wrapping_add(PRIME[3]);
    }
    let (halves, rest) = rest.as_chunks::<4>();
    for half in halves {
        let half = u64::from(u32::from_le_bytes(*half));
        hash = (hash ^ half.wrapping_mul(PRIME[0]))
            .rotate_left(23)
            .wrapping_mul(PRIME[1])
            .wrapping_add(PRIME[2]);
    }
    for byte in rest {
        hash = (hash ^ u64::from(*byte).wrapping_mul(PRIME[4]))
            .rotate_left(11)
            .wrapping_mul(PRIME[0]);
    }
    hash
}

fn avalanche(mut hash: u64) -> u64 {
    hash = (hash ^ (hash >> 33)).wrapping_mul(PRIME[1]);
    hash = (hash ^ (hash >> 29)).wrapping_mul(PRIME[2]);
    hash ^ (hash >> 32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn gives_the_published_values() {
        assert_eq!(Hasher::of(b""), 0xEF46_DB37_51D8_E999);
        assert_eq!(Hasher::of(b"a"), 0xD24E_C4F1_A98C_6E5B);
        assert_eq!(Hasher::of(b"abc"), 0x44BC_2CF5_AD77_0999);
        assert_eq!(
            Hasher::of(b"Nobody inspects the spammish repetition"),
            0xFBCE_A83C_8A37_8BF1
        );
    }

    proptest! {
        #[test]
        fn how_the_input_is_cut_does_not_matter(
            bytes in proptest::collection::vec(any::<u8>(), 0..300), cut in 0usize..300,
        ) {
            let cut = cut.min(bytes.len());
            let mut hasher = Hasher::new();
            hasher.push(&bytes[..cut]);
            hasher.push(&bytes[cut..]);
            prop_assert_eq!(hasher.finish(), Hasher::of(&bytes));
        }
    }
}
