//! Who gets the next job, and when a process comes or goes because of it. The jobs themselves mean nothing here.

use super::command::Command;
use super::machine::Machine;
use super::moment::Moment;
use super::policy::Cap;
use super::seat::{Phase, Seat, WINDOW};
use pressroom_shared::JobId;

impl Machine {
    /// Hands out what can be handed out, and asks for the processes that are missing.
    pub(super) fn dispatch(&mut self, now: Moment) {
        if self.stopping.is_some() {
            return self.wind_down(now);
        }
        self.retire(now);
        self.assign(now);
        self.run_alone(now);
        self.staff(now);
        self.prefetch(now);
        self.make_room_for_fresh(now);
        self.dismiss(now);
    }

    /// Replaces workers that have done enough, once they hold nothing.
    fn retire(&mut self, now: Moment) {
        self.close_where(now, |seat| {
            seat.retiring && seat.phase == Phase::Live && seat.load() == 0
        });
    }

    fn assign(&mut self, now: Moment) {
        while let Some(index) = self.first_seat(|seat| seat.is_fresh(Cap::Usual)) {
            let Some(job) = self.next_job(Self::pop_fresh_or_open) else {
                return;
            };
            self.send(now, index, job);
        }
        while let Some(index) = self.first_seat(|seat| seat.is_idle(Cap::Usual)) {
            let Some(job) = self.next_job(Self::pop_open) else {
                return;
            };
            self.send(now, index, job);
        }
    }

    /// Gives busy workers a second job, but leaves enough for those that are starting or, near the end, about to be free.
    fn prefetch(&mut self, now: Moment) {
        let starting = self.seats.iter().filter(|s| s.is_starting()).count();
        let reserve = if self.walk_done {
            self.seats.len()
        } else {
            starting
        };
        while self.queue.waiting() > reserve {
            let room = |seat: &Seat| seat.is_open(Cap::Usual) && seat.load() < WINDOW;
            let Some(index) = self.first_seat(room) else {
                return;
            };
            let Some(job) = self.next_job(Self::pop_open) else {
                return;
            };
            self.send(now, index, job);
        }
    }

    fn pop_fresh_or_open(&mut self) -> Option<JobId> {
        self.queue.pop_fresh().or_else(|| self.queue.pop())
    }

    fn pop_open(&mut self) -> Option<JobId> {
        self.queue.pop()
    }

    /// The next job by `pop`, unless the recorder is too far behind already, or memory is low and one is under way.
    fn next_job(&mut self, pop: fn(&mut Self) -> Option<JobId>) -> Option<JobId> {
        if self.recording >= self.policy.unrecorded_limit || self.must_wait_for_memory() {
            return None;
        }
        pop(self)
    }

    /// One job at a time goes on even so: waiting for others to give memory back could take for ever.
    fn must_wait_for_memory(&self) -> bool {
        self.memory_low && self.seats.iter().any(|seat| seat.load() > 0)
    }

    /// Once nothing else is left, the jobs that must have the machine to themselves.
    fn run_alone(&mut self, now: Moment) {
        let Some(cap) = self.queue.next_alone() else {
            return;
        };
        let others = self.queue.waiting() + self.queue.fresh();
        if !self.walk_done || others > 0 || self.seats.iter().any(|s| s.load() > 0) {
            return;
        }
        self.close_where(now, |seat| {
            seat.cap != cap && (seat.is_starting() || seat.phase == Phase::Live)
        });
        if let Some(index) = self.first_seat(|seat| seat.is_idle(cap)) {
            if let Some(job) = self.next_job(|machine| machine.queue.pop_alone()) {
                self.send(now, index, job);
            }
            return;
        }
        let wait = match cap {
            Cap::Usual => self.seats.iter().any(Seat::is_starting),
            Cap::Big => self.seats.iter().any(occupies_memory),
        };
        if !wait {
            self.spawn(now, cap);
        }
    }

    /// Asks for as many processes as there are jobs that no present one can take.
    fn staff(&mut self, now: Moment) {
        let count = |test: &dyn Fn(&Seat) -> bool| self.seats.iter().filter(|s| test(s)).count();
        let starting = count(&|seat| seat.is_starting() && seat.cap == Cap::Usual);
        let fresh = starting + count(&|seat| seat.is_fresh(Cap::Usual));
        let free = starting + count(&|seat| seat.is_idle(Cap::Usual));
        let for_fresh = self.queue.fresh().saturating_sub(fresh);
        let for_any = (self.queue.fresh() + self.queue.waiting()).saturating_sub(free);
        let most = if self.memory_low {
            usize::from(starting == 0 && !self.must_wait_for_memory())
        } else {
            usize::MAX
        };
        for _ in 0..for_fresh.max(for_any).min(most) {
            if !self.spawn(now, Cap::Usual) {
                return;
            }
        }
    }

    /// A job that needs a fresh process must not wait for ever because all seats are taken by used ones.
    fn make_room_for_fresh(&mut self, now: Moment) {
        let coming = self.seats.iter().any(|seat| match seat.phase {
            Phase::Vacant
            | Phase::Starting { .. }
            | Phase::Closing { .. }
            | Phase::Dying { .. } => true,
            Phase::Cooling { .. } | Phase::WrittenOff => false,
            Phase::Live => seat.is_fresh(Cap::Usual),
        });
        if self.queue.fresh() == 0 || coming {
            return;
        }
        let idle = self.first_seat(|seat| seat.phase == Phase::Live && seat.load() == 0);
        if let Some(index) = idle {
            self.close(now, index);
        }
    }

    /// Lets idle workers go once there is nothing to give them and nothing more will come.
    fn dismiss(&mut self, now: Moment) {
        if self.walk_done && self.queue.is_empty() {
            self.close_where(now, |seat| {
                seat.is_starting() || (seat.phase == Phase::Live && seat.load() == 0)
            });
        }
    }

    fn first_seat(&self, test: impl Fn(&Seat) -> bool) -> Option<usize> {
        self.seats.iter().position(test)
    }

    fn send(&mut self, now: Moment, index: usize, job: JobId) {
        let seat = &mut self.seats[index];
        seat.take(now, job);
        self.commands.push_back(Command::Send(seat.worker(), job));
    }

    fn spawn(&mut self, now: Moment, cap: Cap) -> bool {
        let Some(index) = self.first_seat(|seat| seat.phase == Phase::Vacant) else {
            return false;
        };
        let worker = self.seats[index].occupy(now, cap, &self.policy);
        self.commands.push_back(Command::Spawn(worker, cap));
        true
    }

    pub(super) fn close_where(&mut self, now: Moment, test: impl Fn(&Seat) -> bool) {
        for index in 0..self.seats.len() {
            if test(&self.seats[index]) {
                self.close(now, index);
            }
        }
    }

    fn close(&mut self, now: Moment, index: usize) {
        let seat = &mut self.seats[index];
        seat.phase = Phase::Closing {
            until: now + self.policy.close_timeout,
        };
        self.commands.push_back(Command::Close(seat.worker()));
    }
}

/// Whether a process sits here that is not known to be beyond reach.
fn occupies_memory(seat: &Seat) -> bool {
    seat.is_occupied() && seat.phase != Phase::WrittenOff
}
