//! Rate-distortion optimal levels for the coefficients of one block's band (Crouse and Ramchandran 1997, as in mozjpeg).
//!
//! Minimises bits + weight * (error / step)^2 over which coefficients to keep; a dynamic programme whose state is the
//! last coefficient kept. Costs count from "everything zero", so zeroing is free and keeping a coefficient gains its
//! distortion back. A coefficient of level 3 or more is never zeroed, which bounds the looking back.

use super::costs::Costs;

/// Levels from here on are always kept.
const KEPT: u32 = 3;

/// A coefficient that may survive.
#[derive(Debug, Clone, Copy, Default)]
pub struct Candidate {
    /// Zigzag index.
    pub index: u8,
    /// Whether it is negative.
    pub negative: bool,
    /// Magnitude in new steps, not rounded.
    pub x: f32,
    /// Bits that a squared error of one step is worth here.
    pub weight: f32,
}

/// A step of the programme: the best way to keep this candidate as the last so far.
#[derive(Debug, Clone, Copy, Default)]
struct Node {
    cost: f32,
    level: u32,
    /// Number of the candidate kept before, plus one; 0 for none.
    before: u8,
}

/// Room for one band's programme.
#[derive(Debug, Clone)]
pub struct Trellis {
    nodes: [Node; 64],
    /// Candidates kept by the last run, the last of them first.
    path: [u8; 64],
}

impl Default for Trellis {
    fn default() -> Self {
        Self {
            nodes: [Node::default(); 64],
            path: [0; 64],
        }
    }
}

/// The last coefficient kept and what leaving it out would bring.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Last {
    /// Bits saved.
    pub bits: f32,
    /// Distortion added, in bits of the same scale.
    pub loss: f32,
}

impl Trellis {
    /// Chooses which candidates (at most 63) to keep, and at which levels; tells how many and what the last one is worth,
    /// if its level is 1. `first` and `last` are the band's zigzag limits.
    #[inline]
    pub fn run(
        &mut self,
        candidates: &[Candidate],
        (first, last): (usize, usize),
        costs: &Costs,
    ) -> (usize, Option<Last>) {
        if let [only] = candidates {
            return self.single(only, (first, last), costs);
        }
        for i in 0..candidates.len().min(63) {
            self.nodes[i] = self.node(candidates, i, first, costs);
        }
        let (best, cost) = self.ending(candidates, last, costs.end);
        let (mut at, mut kept) = (best, 0);
        while at > 0 {
            self.path[kept & 63] = at as u8 - 1;
            kept += 1;
            at = usize::from(self.nodes[(at - 1) & 63].before);
        }
        if best == 0 {
            return (0, None);
        }
        let end = self.nodes[best - 1];
        let without = match usize::from(end.before) {
            0 => 0.0,
            n => self.nodes[n - 1].cost + costs.end,
        };
        let loss = gain(&candidates[best - 1], 1.0);
        let bits = loss - (without - cost);
        (kept, (end.level == 1).then_some(Last { bits, loss }))
    }

    /// The same for one candidate, which is what most blocks have.
    #[inline]
    fn single(
        &mut self,
        only: &Candidate,
        (first, last): (usize, usize),
        costs: &Costs,
    ) -> (usize, Option<Last>) {
        let node = self.node(std::slice::from_ref(only), 0, first, costs);
        let end = if usize::from(only.index) < last {
            costs.end
        } else {
            0.0
        };
        if node.level < KEPT && node.cost + end >= 0.0 {
            return (0, None);
        }
        (self.nodes[0], self.path[0]) = (node, 0);
        let loss = gain(only, 1.0);
        let bits = loss + node.cost + end;
        (1, (node.level == 1).then_some(Last { bits, loss }))
    }

    /// Candidates kept by the last run, which kept `kept`, in order, with their levels.
    #[inline]
    pub fn kept(&self, kept: usize) -> impl Iterator<Item = (usize, u32)> {
        let path = self.path[..kept].iter().rev();
        path.map(|&i| (usize::from(i), self.nodes[usize::from(i & 63)].level))
    }

    /// The best way to keep candidate `i`.
    #[inline(always)]
    fn node(&self, candidates: &[Candidate], i: usize, first: usize, costs: &Costs) -> Node {
        let candidate = &candidates[i];
        let level = (candidate.x + 0.5) as u32;
        let mut best = self.arrive(candidates, i, first, costs.of_size(size(level)));
        best.cost -= gain(candidate, level as f32);
        best.level = level;
        if level > 1 && level.is_power_of_two() {
            // One less needs a bit less; elsewhere it would only add distortion.
            let mut less = self.arrive(candidates, i, first, costs.of_size(size(level - 1)));
            less.cost -= gain(candidate, (level - 1) as f32);
            if less.cost < best.cost {
                less.level = level - 1;
                return less;
            }
        }
        best
    }

    /// The cheapest path to candidate `i`, its own bits (by zero run) included.
    #[inline(always)]
    fn arrive(&self, candidates: &[Candidate], i: usize, first: usize, bits: &[f32; 64]) -> Node {
        let here = usize::from(candidates[i].index);
        let mut best = Node {
            cost: f32::INFINITY,
            level: 0,
            before: 0,
        };
        for j in (0..i).rev() {
            let run = here - usize::from(candidates[j].index) - 1;
            let cost = self.nodes[j].cost + bits[run & 63];
            if cost < best.cost {
                best = Node {
                    cost,
                    level: 0,
                    before: j as u8 + 1,
                };
            }
            if self.nodes[j].level >= KEPT {
                return best;
            }
        }
        let cost = bits[(here - first) & 63];
        if cost < best.cost {
            Node {
                cost,
                level: 0,
                before: 0,
            }
        } else {
            best
        }
    }

    /// Number (plus one) of the candidate to end with, or 0, and the cost of that.
    #[inline]
    fn ending(&self, candidates: &[Candidate], last: usize, end: f32) -> (usize, f32) {
        let mut best = (0, f32::INFINITY);
        for (i, candidate) in candidates.iter().enumerate().rev() {
            let node = &self.nodes[i];
            let early = if usize::from(candidate.index) < last {
                end
            } else {
                0.0
            };
            if node.cost + early < best.1 {
                best = (i + 1, node.cost + early);
            }
            if node.level >= KEPT {
                return best;
            }
        }
        if best.1 < 0.0 { best } else { (0, 0.0) }
    }
}

/// Distortion taken away by coding `level` instead of zero.
#[inline(always)]
fn gain(candidate: &Candidate, level: f32) -> f32 {
    // x^2 - (x - level)^2
    candidate.weight * level * (2.0 * candidate.x - level)
}

#[inline(always)]
fn size(level: u32) -> usize {
    (32 - level.leading_zeros()) as usize
}
