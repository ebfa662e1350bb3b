//! GIF's LZW (GIF89a appendix F): the shortest of several ways to code the same indices.
//!
//! A way differs from another in when it begins a new table: at once when the table is full, when the old one no longer serves,
//! or never. Knows nothing of files; data is a code size and sub-blocks.

/// Longest code in bits.
const LONGEST: u32 = 12;
/// Codes in a full table.
const FULL: usize = 1 << LONGEST;
/// Codes after which a full table is judged.
const WINDOW: u32 = 512;

/// Decodes `count` indices into `out`; `None` where there are fewer, or the data makes no sense.
pub(super) fn decode(code_size: u8, data: &[u8], count: usize, out: &mut Vec<u8>) -> Option<()> {
    out.resize(count, 0);
    let order = weezl::BitOrder::Lsb;
    let mut decoder = weezl::decode::Configuration::new(order, code_size)
        .with_yield_on_full_buffer(true)
        .build();
    let mut made = 0;
    let mut rest = data.get(1..)?;
    let mut block: &[u8] = &[];
    while made < count {
        let step = decoder.decode_bytes(block, &mut out[made..]);
        made += step.consumed_out;
        block = &block[step.consumed_in..];
        match step.status.ok()? {
            weezl::LzwStatus::Done => break,
            weezl::LzwStatus::Ok if step.consumed_in + step.consumed_out > 0 => {}
            weezl::LzwStatus::Ok | weezl::LzwStatus::NoProgress => {
                let (&length, behind) = rest.split_first()?;
                (block, rest) = behind.split_at_checked(length.into())?;
                if length == 0 {
                    break;
                }
            }
        }
    }
    (made == count).then_some(())
}

/// When to begin a new table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Policy {
    /// As soon as it is full.
    Full,
    /// When it codes worse than its best by so many per cent.
    Worse(u32),
    /// Never.
    Never,
}

/// Codes `indices` in the shortest way that the effort tries, with code size, sub-blocks and terminator.
pub(super) fn encode(code_size: u8, indices: &[u8], effort: u8) -> Vec<u8> {
    const WAYS: [Policy; 6] = [
        Policy::Worse(10),
        Policy::Full,
        Policy::Never,
        Policy::Worse(0),
        Policy::Worse(30),
        Policy::Worse(4),
    ];
    let needed = indices
        .iter()
        .max()
        .map_or(2, |&most| (8 - most.leading_zeros()).max(2)) as u8;
    // A frame may use fewer indices than its palette has.
    let code_size = code_size.max(2).min(needed);
    let ways = &WAYS[..if effort < 3 { 2 } else { WAYS.len() }];
    let coded = ways.iter().map(|&policy| codes(code_size, indices, policy));
    let shortest = coded.min_by_key(Vec::len).unwrap_or_default();
    let mut out = vec![code_size];
    for block in shortest.chunks(255) {
        out.push(block.len() as u8);
        out.extend_from_slice(block);
    }
    out.push(0);
    out
}

/// Codes of growing width, the first in the lowest bits.
struct Bits {
    out: Vec<u8>,
    word: u32,
    held: u32,
}

impl Bits {
    fn put(&mut self, code: u32, width: u32) {
        self.word |= code << self.held;
        self.held += width;
        while self.held >= 8 {
            self.out.push(self.word as u8);
            self.word >>= 8;
            self.held -= 8;
        }
    }

    fn finish(mut self) -> Vec<u8> {
        if self.held > 0 {
            self.out.push(self.word as u8);
        }
        self.out
    }
}

/// The table: for every string, the strings that are longer by one index.
struct Table {
    /// First child and next sibling of each code, 0 for none; an index.
    nodes: Vec<(u16, u16, u8)>,
    clear: u16,
}

impl Table {
    fn new(code_size: u8) -> Self {
        let clear = 1u16 << code_size;
        let mut table = Self {
            nodes: Vec::with_capacity(FULL),
            clear,
        };
        table.reset();
        table
    }

    /// Single indices, the clear code and the end code.
    fn reset(&mut self) {
        self.nodes.clear();
        self.nodes
            .extend((0..self.clear + 2).map(|n| (0, 0, n as u8)));
    }

    fn child(&self, of: u16, index: u8) -> Option<u16> {
        let mut next = self.nodes[usize::from(of)].0;
        while next != 0 {
            let (_, sibling, own) = self.nodes[usize::from(next)];
            if own == index {
                return Some(next);
            }
            next = sibling;
        }
        None
    }

    fn add(&mut self, to: u16, index: u8) {
        let code = self.nodes.len() as u16;
        let first = self.nodes[usize::from(to)].0;
        self.nodes.push((0, first, index));
        self.nodes[usize::from(to)].0 = code;
    }
}

fn codes(code_size: u8, indices: &[u8], policy: Policy) -> Vec<u8> {
    let mut table = Table::new(code_size);
    let (clear, end) = (u32::from(table.clear), u32::from(table.clear) + 1);
    let mut bits = Bits {
        out: Vec::new(),
        word: 0,
        held: 0,
    };
    let narrowest = u32::from(code_size) + 1;
    let mut width = narrowest;
    bits.put(clear, width);
    let mut judge = Judge::default();
    let mut rest = indices.iter();
    let Some(mut current) = rest.next().map(|&index| u16::from(index)) else {
        bits.put(end, width);
        return bits.finish();
    };
    for &index in rest {
        judge.indices += 1;
        if let Some(longer) = table.child(current, index) {
            current = longer;
            continue;
        }
        bits.put(current.into(), width);
        if table.nodes.len() < FULL {
            // The reader adds a code only when the next one has come, so it widens one code later than the table grows.
            if table.nodes.len() == 1 << width && width < LONGEST {
                width += 1;
            }
            table.add(current, index);
        } else if judge.ends(policy) {
            bits.put(clear, width);
            table.reset();
            width = narrowest;
            judge = Judge::default();
        }
        current = index.into();
    }
    bits.put(current.into(), width);
    if table.nodes.len() == 1 << width && width < LONGEST {
        width += 1;
    }
    bits.put(end, width);
    bits.finish()
}

/// Judges a full table by the indices that a code stands for.
#[derive(Debug, Default)]
struct Judge {
    indices: u32,
    codes: u32,
    best: u32,
}

impl Judge {
    /// Whether a full table should go after another code.
    fn ends(&mut self, policy: Policy) -> bool {
        let slack = match policy {
            Policy::Full => return true,
            Policy::Never => return false,
            Policy::Worse(slack) => slack,
        };
        if self.codes == 0 && self.best == 0 {
            // What was coded while the table grew says nothing about it.
            self.indices = 0;
        }
        self.codes += 1;
        if self.codes < WINDOW {
            return false;
        }
        let indices = std::mem::take(&mut self.indices);
        self.codes = 0;
        let worse = indices * 100 < self.best * (100 - slack.min(100));
        self.best = self.best.max(indices);
        worse
    }
}
