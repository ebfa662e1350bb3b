//! Jobs that wait, by what they wait for. Knows job numbers and nothing else.

use super::policy::Cap;
use pressroom_shared::JobId;
use std::collections::VecDeque;

/// Jobs that wait for a worker.
#[derive(Debug, Default)]
pub(super) struct Queue {
    waiting: VecDeque<JobId>,
    fresh: VecDeque<JobId>,
    alone: VecDeque<JobId>,
    alone_big: VecDeque<JobId>,
}

impl Queue {
    /// A new job, behind all others.
    pub(super) fn push(&mut self, job: JobId) {
        self.waiting.push_back(job);
    }

    /// A job that a worker never began: it was first in line and is so again.
    pub(super) fn give_back(&mut self, job: JobId) {
        self.waiting.push_front(job);
    }

    /// A job for a process that has done nothing else.
    pub(super) fn push_fresh(&mut self, job: JobId) {
        self.fresh.push_back(job);
    }

    /// A job to run at the end with no other beside it.
    pub(super) fn push_alone(&mut self, job: JobId, cap: Cap) {
        match cap {
            Cap::Usual => self.alone.push_back(job),
            Cap::Big => self.alone_big.push_back(job),
        }
    }

    /// The next job any worker may take.
    pub(super) fn pop(&mut self) -> Option<JobId> {
        self.waiting.pop_front()
    }

    /// The next job for a process that has done nothing else.
    pub(super) fn pop_fresh(&mut self) -> Option<JobId> {
        self.fresh.pop_front()
    }

    /// The next job to run alone, and the memory it gets.
    pub(super) fn pop_alone(&mut self) -> Option<JobId> {
        self.alone
            .pop_front()
            .or_else(|| self.alone_big.pop_front())
    }

    /// The memory the next job to run alone gets.
    pub(super) fn next_alone(&self) -> Option<Cap> {
        if !self.alone.is_empty() {
            Some(Cap::Usual)
        } else if !self.alone_big.is_empty() {
            Some(Cap::Big)
        } else {
            None
        }
    }

    /// Jobs any worker may take.
    pub(super) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Jobs for processes that have done nothing else.
    pub(super) fn fresh(&self) -> usize {
        self.fresh.len()
    }

    /// Whether nothing waits at all.
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.fresh.is_empty() && self.next_alone().is_none()
    }

    /// Takes everything out.
    pub(super) fn drain(&mut self) -> Vec<JobId> {
        let mut all: Vec<JobId> = self.waiting.drain(..).collect();
        all.extend(self.fresh.drain(..));
        all.extend(self.alone.drain(..));
        all.extend(self.alone_big.drain(..));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_returned_job_is_first_again() {
        let mut queue = Queue::default();
        queue.push(JobId(1));
        queue.push(JobId(2));
        queue.give_back(JobId(0));
        let order: Vec<u64> = std::iter::from_fn(|| queue.pop())
            .map(|job| job.0)
            .collect();
        assert_eq!(order, [0, 1, 2]);
    }

    #[test]
    fn the_usual_cap_runs_before_the_big_one() {
        let mut queue = Queue::default();
        queue.push_alone(JobId(1), Cap::Big);
        queue.push_alone(JobId(2), Cap::Usual);
        assert_eq!(queue.next_alone(), Some(Cap::Usual));
        assert_eq!(queue.pop_alone(), Some(JobId(2)));
        assert_eq!(queue.next_alone(), Some(Cap::Big));
        assert_eq!(queue.pop_alone(), Some(JobId(1)));
        assert!(queue.is_empty());
    }

    #[test]
    fn draining_leaves_nothing() {
        let mut queue = Queue::default();
        queue.push(JobId(1));
        queue.push_fresh(JobId(2));
        queue.push_alone(JobId(3), Cap::Usual);
        queue.push_alone(JobId(4), Cap::Big);
        assert_eq!(queue.drain().len(), 4);
        assert!(queue.is_empty());
    }
}
