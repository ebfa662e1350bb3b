//! A small JPEG writer for tests that can make every legal form and, on demand, illegal ones. Written from T.81 alone, so
//! that it shares no mistake with the decoder.

use crate::jpeg::decode::huffman::standard_counts;
use crate::jpeg::frame::{Coding, Frame};

/// A generator of numbers, so that a case is one seed.
#[derive(Clone)]
pub(super) struct Random(pub(super) u64);

impl Random {
    /// A number below `bound`.
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % bound
    }

    /// True once in `n` times.
    pub(super) fn once_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }
}

/// A Huffman code: bits and length of every symbol that has one.
#[derive(Clone)]
pub(super) struct TestCode {
    counts: [u8; 16],
    symbols: Vec<u8>,
    codes: Vec<Option<(u32, u32)>>,
}

impl TestCode {
    pub(super) fn new(counts: [u8; 16], symbols: Vec<u8>) -> Self {
        let mut codes = vec![None; 256];
        let (mut next, mut index) = (0, 0);
        for (length, &count) in (1..).zip(&counts) {
            for _ in 0..count {
                codes[usize::from(symbols[index])] = Some((next, length));
                next += 1;
                index += 1;
            }
            next *= 2;
        }
        Self {
            counts,
            symbols,
            codes,
        }
    }

    /// The code of T.81 K.3.
    pub(super) fn standard(class: u8, slot: u8) -> Self {
        let (counts, symbols) = standard_counts(class, slot);
        Self::new(counts, symbols)
    }

    /// Every symbol has a code; a few are short, most are long, which ones is chance.
    pub(super) fn skewed(random: &mut Random, symbols: usize) -> Self {
        let mut order: Vec<u8> = (0..=255).take(symbols).collect();
        for n in (1..order.len()).rev() {
            order.swap(n, random.below(n as u64 + 1) as usize);
        }
        // Frequent symbols first, mostly, so that codes look like those of pictures.
        for (place, wanted) in [0x01, 0x00, 0x11, 0x02, 0xf0, 0x21].into_iter().enumerate() {
            if let Some(found) = order.iter().position(|&symbol| symbol == wanted) {
                order.swap(place, found);
            }
        }
        let mut counts = [0_u8; 16];
        let (mut left, mut free) = (order.len() as u32, 1_u32);
        for length in 1..=16_u32 {
            free *= 2;
            // As many as leave room for the rest, all of which fit at length 16; one pattern stays free.
            let rest = 1_u32 << (16 - length);
            let most = (0..=free.saturating_sub(1))
                .rev()
                .find(|&taken| (free - taken) * rest > left - taken.min(left));
            let wish = if length < 3 {
                random.below(2) as u32
            } else {
                random.below(4) as u32
            };
            let mut taken = wish.min(most.unwrap_or(0)).min(left);
            if length == 16 {
                taken = left;
            }
            counts[length as usize - 1] = taken as u8;
            left -= taken;
            free -= taken;
        }
        Self::new(counts, order)
    }
}

/// Bits with 0xFF stuffed.
#[derive(Default)]
struct Bits {
    bytes: Vec<u8>,
    acc: u64,
    count: u32,
}

impl Bits {
    fn put(&mut self, value: u32, length: u32) {
        for n in (0..length).rev() {
            self.acc = self.acc << 1 | u64::from(value >> n & 1);
            self.count += 1;
            if self.count == 8 {
                self.bytes.push(self.acc as u8);
                if self.acc as u8 == 0xff {
                    self.bytes.push(0);
                }
                (self.acc, self.count) = (0, 0);
            }
        }
    }

    fn symbol(&mut self, code: &TestCode, symbol: u8) {
        let (bits, length) =
            code.codes[usize::from(symbol)].expect("the test code has all symbols");
        self.put(bits, length);
    }

    /// The bits of a value behind its size.
    fn value(&mut self, value: i32) {
        let size = size_of_value(value);
        let raw = if value < 0 {
            value + (1 << size) - 1
        } else {
            value
        };
        self.put(raw as u32, size);
    }

    fn align(&mut self) {
        while self.count > 0 {
            self.put(1, 1);
        }
    }
}

fn size_of_value(value: i32) -> u32 {
    32 - value.unsigned_abs().leading_zeros()
}

/// One scan to be written: components, first and last index, high and low bit.
#[derive(Clone)]
pub(super) struct ScanPlan {
    pub(super) components: Vec<usize>,
    pub(super) band: (usize, usize),
    pub(super) high: u32,
    pub(super) low: u32,
}

/// A picture to be written.
#[derive(Clone)]
pub(super) struct Forge {
    pub(super) frame: Frame,
    /// Blocks of each component in raster order, padded to whole MCUs; coefficients in zigzag order.
    pub(super) blocks: Vec<Vec<[i16; 64]>>,
    pub(super) scans: Vec<ScanPlan>,
    pub(super) dc: TestCode,
    pub(super) ac: TestCode,
    pub(super) restart: u16,
    /// 16-bit quantisation tables.
    pub(super) wide: bool,
    /// The height comes in a DNL segment.
    pub(super) dnl: bool,
    /// Fill bytes before every marker.
    pub(super) fill: usize,
    /// No Huffman tables: the standard ones are implied.
    pub(super) implied_codes: bool,
    /// Runs of ended bands are cut short at this length.
    pub(super) longest_run: u32,
}

impl Forge {
    /// A picture of random coefficients, sequential in one scan.
    pub(super) fn random(
        seed: u64,
        width: u16,
        height: u16,
        sampling: &[(u8, u8)],
        coding: Coding,
    ) -> Self {
        let mut random = Random(seed | 1);
        let ids: Vec<_> = (1..)
            .zip(sampling)
            .map(|(id, &(h, v))| (id, h, v, id % 4))
            .collect();
        let frame = Frame::new(coding, width, height, &ids);
        let density = random.below(60);
        let blocks = frame
            .components
            .iter()
            .map(|c| {
                (0..c.padded_across * c.padded_down)
                    .map(|_| random_block(&mut random, density))
                    .collect()
            })
            .collect();
        let all = ScanPlan {
            components: (0..sampling.len()).collect(),
            band: (0, 63),
            high: 0,
            low: 0,
        };
        Self {
            blocks,
            scans: vec![all],
            dc: TestCode::standard(0, 0),
            ac: TestCode::standard(1, 0),
            restart: 0,
            wide: false,
            dnl: false,
            fill: 0,
            implied_codes: false,
            longest_run: 1,
            frame,
        }
    }

    /// One scan per component.
    pub(super) fn separate(mut self) -> Self {
        let plan = |n| ScanPlan {
            components: vec![n],
            band: (0, 63),
            high: 0,
            low: 0,
        };
        self.scans = (0..self.blocks.len()).map(plan).collect();
        self
    }

    /// A random progression over all coefficients, with random codes.
    pub(super) fn progression(mut self, random: &mut Random) -> Self {
        self.ac = TestCode::skewed(random, 256);
        self.dc = TestCode::skewed(random, 12);
        self.longest_run = 1 << random.below(15);
        let all: Vec<_> = (0..self.blocks.len()).collect();
        let together = !random.once_in(4);
        let groups = if together {
            vec![all]
        } else {
            all.into_iter().map(|n| vec![n]).collect()
        };
        self.scans.clear();
        let depth = random.below(4) as u32;
        for low in (0..=depth).rev() {
            for components in &groups {
                let high = if low == depth { 0 } else { low + 1 };
                self.scans.push(ScanPlan {
                    components: components.clone(),
                    band: (0, 0),
                    high,
                    low,
                });
            }
        }
        for n in 0..self.blocks.len() {
            let depth = random.below(4) as u32;
            let mut start = 1;
            while start < 64 {
                let end = (start + random.below(64) as usize).min(63);
                for low in (0..=depth).rev() {
                    let high = if low == depth { 0 } else { low + 1 };
                    self.scans.push(ScanPlan {
                        components: vec![n],
                        band: (start, end),
                        high,
                        low,
                    });
                }
                start = end + 1;
            }
        }
        self
    }

    /// The file.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let mut out = vec![0xff, 0xd8];
        self.tables(&mut out);
        self.frame_header(&mut out);
        if self.restart > 0 {
            self.segment(&mut out, 0xdd, &self.restart.to_be_bytes());
        }
        for (n, plan) in self.scans.iter().enumerate() {
            self.scan_header(&mut out, plan);
            out.extend(self.scan(plan));
            if n == 0 && self.dnl {
                self.segment(&mut out, 0xdc, &self.frame.height.to_be_bytes());
            }
        }
        self.marker(&mut out, 0xd9);
        out
    }

    fn marker(&self, out: &mut Vec<u8>, marker: u8) {
        out.extend(std::iter::repeat_n(0xff, 1 + self.fill));
        out.push(marker);
    }

    fn segment(&self, out: &mut Vec<u8>, marker: u8, payload: &[u8]) {
        self.marker(out, marker);
        out.extend((payload.len() as u16 + 2).to_be_bytes());
        out.extend(payload);
    }

    /// The quantisation steps of table `slot`.
    pub(super) fn step(&self, slot: u8, index: usize) -> u16 {
        let step = 1 + u16::from(slot) + index as u16;
        if self.wide { step + 300 } else { step }
    }

    fn tables(&self, out: &mut Vec<u8>) {
        for slot in 0..4 {
            let mut payload = vec![slot | u8::from(self.wide) << 4];
            for index in 0..64 {
                let step = self.step(slot, index).to_be_bytes();
                payload.extend(if self.wide { &step[..] } else { &step[1..] });
            }
            self.segment(out, 0xdb, &payload);
        }
        if !self.implied_codes {
            for (class, code) in [(0, &self.dc), (1, &self.ac)] {
                let mut payload = vec![class << 4];
                payload.extend(code.counts);
                payload.extend(&code.symbols);
                self.segment(out, 0xc4, &payload);
            }
        }
    }

    fn frame_header(&self, out: &mut Vec<u8>) {
        let frame = &self.frame;
        let marker = match frame.coding {
            Coding::Baseline => 0xc0,
            Coding::Extended => 0xc1,
            Coding::Progressive => 0xc2,
        };
        let height = if self.dnl { 0 } else { frame.height };
        let mut payload = vec![8];
        payload.extend(height.to_be_bytes());
        payload.extend(frame.width.to_be_bytes());
        payload.push(frame.components.len() as u8);
        for c in &frame.components {
            payload.extend([c.id, c.h << 4 | c.v, c.table]);
        }
        self.segment(out, marker, &payload);
    }

    fn scan_header(&self, out: &mut Vec<u8>, plan: &ScanPlan) {
        let mut payload = vec![plan.components.len() as u8];
        for &n in &plan.components {
            payload.extend([self.frame.components[n].id, 0]);
        }
        payload.extend([
            plan.band.0 as u8,
            plan.band.1 as u8,
            (plan.high << 4 | plan.low) as u8,
        ]);
        self.segment(out, 0xda, &payload);
    }

    /// MCUs of a scan, each a list of component and block.
    fn mcus(&self, plan: &ScanPlan) -> Vec<Vec<(usize, &[i16; 64])>> {
        let frame = &self.frame;
        let block = |n: usize, x: u32, y: u32| {
            let at = y * frame.components[n].padded_across + x;
            (n, &self.blocks[n][at as usize])
        };
        if let [n] = plan.components[..] {
            let c = &frame.components[n];
            let places = (0..c.blocks_down).flat_map(|y| (0..c.blocks_across).map(move |x| (x, y)));
            return places.map(|(x, y)| vec![block(n, x, y)]).collect();
        }
        let mut mcus = Vec::new();
        for (my, mx) in
            (0..frame.mcus_down).flat_map(|y| (0..frame.mcus_across).map(move |x| (y, x)))
        {
            let mut mcu = Vec::new();
            for &n in &plan.components {
                let (h, v) = (
                    u32::from(frame.components[n].h),
                    u32::from(frame.components[n].v),
                );
                for (y, x) in (0..v).flat_map(|y| (0..h).map(move |x| (y, x))) {
                    mcu.push(block(n, mx * h + x, my * v + y));
                }
            }
            mcus.push(mcu);
        }
        mcus
    }

    fn scan(&self, plan: &ScanPlan) -> Vec<u8> {
        let mut coder = Coder {
            forge: self,
            plan,
            bits: Bits::default(),
            previous: vec![0; 4],
            run: 0,
            held: Vec::new(),
        };
        for (n, mcu) in self.mcus(plan).into_iter().enumerate() {
            if self.restart > 0 && n > 0 && n % usize::from(self.restart) == 0 {
                coder.end_run();
                coder.bits.align();
                let marker = 0xd0 + ((n / usize::from(self.restart) - 1) % 8) as u8;
                self.marker(&mut coder.bits.bytes, marker);
                coder.previous = vec![0; 4];
            }
            for (component, block) in mcu {
                coder.block(component, block);
            }
        }
        coder.end_run();
        coder.bits.align();
        coder.bits.bytes
    }
}

fn random_block(random: &mut Random, density: u64) -> [i16; 64] {
    let mut block = [0; 64];
    block[0] = random.below(2047) as i16 - 1023;
    if random.once_in(3) {
        return block;
    }
    for value in &mut block[1..] {
        if random.below(64) < density {
            let size = random.below(4) + if random.once_in(20) { 7 } else { 0 };
            let magnitude = (random.below(1 << size) + 1).min(1023) as i16;
            *value = if random.once_in(2) {
                magnitude
            } else {
                -magnitude
            };
        }
    }
    block
}

struct Coder<'a> {
    forge: &'a Forge,
    plan: &'a ScanPlan,
    bits: Bits,
    previous: Vec<i32>,
    /// Blocks that ended their band and were not yet said to.
    run: u32,
    /// Correction bits of those blocks.
    held: Vec<u32>,
}

impl Coder<'_> {
    fn block(&mut self, component: usize, block: &[i16; 64]) {
        let (start, end) = self.plan.band;
        if start == 0 {
            self.dc(component, i32::from(block[0]));
        }
        if self.forge.frame.coding != Coding::Progressive {
            self.sequential_ac(block);
        } else if end > 0 && self.plan.high == 0 {
            self.first(block);
        } else if end > 0 {
            self.refine(block);
        }
    }

    fn dc(&mut self, component: usize, value: i32) {
        if self.plan.high > 0 {
            return self.bits.put((value >> self.plan.low) as u32 & 1, 1);
        }
        // DC is shifted arithmetically (T.81 G.1.2.1).
        let value = value >> self.plan.low;
        let difference = value - std::mem::replace(&mut self.previous[component], value);
        self.bits
            .symbol(&self.forge.dc, size_of_value(difference) as u8);
        self.bits.value(difference);
    }

    fn sequential_ac(&mut self, block: &[i16; 64]) {
        let code = &self.forge.ac;
        let mut run = 0;
        for &value in &block[1..] {
            if value == 0 {
                run += 1;
                continue;
            }
            while run > 15 {
                self.bits.symbol(code, 0xf0);
                run -= 16;
            }
            let value = i32::from(value);
            self.bits
                .symbol(code, (run << 4) as u8 | size_of_value(value) as u8);
            self.bits.value(value);
            run = 0;
        }
        if run > 0 {
            self.bits.symbol(code, 0);
        }
    }

    /// The coefficient's bits above the scan's low bit; AC values are rounded towards zero (T.81 G.1.2.2).
    fn above(&self, value: i16) -> i32 {
        let magnitude = i32::from(value.unsigned_abs()) >> self.plan.low;
        if value < 0 { -magnitude } else { magnitude }
    }

    fn first(&mut self, block: &[i16; 64]) {
        let (start, end) = self.plan.band;
        let mut run = 0;
        for &value in &block[start..=end] {
            let value = self.above(value);
            if value == 0 {
                run += 1;
                continue;
            }
            self.end_run();
            while run > 15 {
                self.bits.symbol(&self.forge.ac, 0xf0);
                run -= 16;
            }
            self.bits.symbol(
                &self.forge.ac,
                (run << 4) as u8 | size_of_value(value) as u8,
            );
            self.bits.value(value);
            run = 0;
        }
        if run > 0 {
            self.lengthen_run();
        }
    }

    /// T.81 G.1.2.3 and figure G.7.
    fn refine(&mut self, block: &[i16; 64]) {
        let (start, end) = self.plan.band;
        let fresh = |value: i16, coder: &Self| coder.above(value).abs() == 1;
        let last_fresh = (start..=end).rev().find(|&k| fresh(block[k], self));
        let (mut run, mut corrections) = (0, Vec::new());
        for (k, &value) in block.iter().enumerate().take(end + 1).skip(start) {
            let value = self.above(value);
            if value == 0 {
                run += 1;
                continue;
            }
            while run > 15 && last_fresh.is_some_and(|last| k <= last) {
                self.end_run();
                self.bits.symbol(&self.forge.ac, 0xf0);
                run -= 16;
                self.corrections(&mut corrections);
            }
            if value.abs() > 1 {
                corrections.push(value.unsigned_abs() & 1);
                continue;
            }
            self.end_run();
            self.bits.symbol(&self.forge.ac, (run << 4) as u8 | 1);
            self.bits.put(u32::from(value > 0), 1);
            self.corrections(&mut corrections);
            run = 0;
        }
        if run > 0 || !corrections.is_empty() {
            self.held.append(&mut corrections);
            self.lengthen_run();
        }
    }

    fn corrections(&mut self, corrections: &mut Vec<u32>) {
        corrections.drain(..).for_each(|bit| self.bits.put(bit, 1));
    }

    fn lengthen_run(&mut self) {
        self.run += 1;
        if self.run >= self.forge.longest_run.min(0x7fff) {
            self.end_run();
        }
    }

    fn end_run(&mut self) {
        if self.run > 0 {
            let size = size_of_value(self.run as i32) - 1;
            self.bits.symbol(&self.forge.ac, (size << 4) as u8);
            self.bits.put(self.run - (1 << size), size);
            self.run = 0;
        }
        let mut held = std::mem::take(&mut self.held);
        self.corrections(&mut held);
    }
}
