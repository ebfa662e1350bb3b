//! One test per transition and rule, each told as a few events and the commands they must cause.

use super::*;
use pressroom_shared::{Incarnation, JobId, SeatId};
use std::time::Duration;

/// A machine on a table, in milliseconds.
struct Table(Machine);

fn table(change: impl FnOnce(&mut Policy)) -> Table {
    let mut policy = Policy::new(1);
    change(&mut policy);
    Table(Machine::new(policy))
}

fn one_seat() -> Table {
    table(|_| {})
}

fn worker(seat: u16, incarnation: u32) -> WorkerId {
    WorkerId {
        seat: SeatId(seat),
        incarnation: Incarnation(incarnation),
    }
}

const A: JobId = JobId(1);
const B: JobId = JobId(2);
const C: JobId = JobId(3);
const D: JobId = JobId(4);

/// The processes of seat 0, in order.
fn first() -> WorkerId {
    worker(0, 1)
}
fn second() -> WorkerId {
    worker(0, 2)
}

fn done(worker: WorkerId, job: JobId, finding: Finding) -> Event {
    Event::Done {
        worker,
        job,
        finding,
        rss: 0,
    }
}

fn report(job: JobId, verdict: Ruling, seat: Option<u16>, deaths: u8) -> Command {
    Command::Report {
        job,
        verdict,
        seat: seat.map(SeatId),
        deaths,
    }
}

fn publish(job: JobId, worker: WorkerId, deaths: u8) -> Command {
    Command::Publish {
        job,
        worker,
        deaths,
    }
}

impl Table {
    fn at(&mut self, ms: u64, event: Event) -> Vec<Command> {
        let now = Moment::after(Duration::from_millis(ms));
        self.0.handle(now, event);
        std::iter::from_fn(|| self.0.poll()).collect()
    }

    fn tell(&mut self, event: Event) -> Vec<Command> {
        self.at(0, event)
    }

    fn all(&mut self, events: &[Event]) -> Vec<Command> {
        events.iter().flat_map(|event| self.tell(*event)).collect()
    }

    /// Seat 0 has a live worker that computes `A` and holds `B`; `C` waits.
    fn busy(mut self) -> Self {
        self.all(&[
            Event::Found(A),
            Event::Ready(first()),
            Event::Found(B),
            Event::Found(C),
            Event::Started(first(), A),
        ]);
        self
    }

    fn deadline_ms(&self) -> Option<u128> {
        self.0.next_deadline().map(|at| at.elapsed().as_millis())
    }
}

#[test]
fn vacant_to_starting_when_a_job_is_found() {
    let mut table = one_seat();
    assert_eq!(
        table.tell(Event::Found(A)),
        [Command::Spawn(first(), Cap::Usual)]
    );
    assert_eq!(table.tell(Event::Found(B)), [], "the seat is taken");
}

#[test]
fn no_more_processes_than_jobs() {
    let mut table = table(|policy| policy.seats = 4);
    let spawned = table.all(&[Event::Found(A), Event::Found(B)]);
    assert_eq!(
        spawned,
        [
            Command::Spawn(worker(0, 1), Cap::Usual),
            Command::Spawn(worker(1, 1), Cap::Usual)
        ]
    );
}

#[test]
fn starting_to_live_gives_one_job_and_prefetches_one() {
    let mut table = one_seat();
    table.all(&[Event::Found(A), Event::Found(B), Event::Found(C)]);
    assert_eq!(
        table.tell(Event::Ready(first())),
        [Command::Send(first(), A), Command::Send(first(), B)]
    );
    assert_eq!(table.tell(Event::Started(first(), A)), []);
    assert_eq!(
        table.tell(done(first(), A, Finding::Output)),
        [publish(A, first(), 0), Command::Send(first(), C)]
    );
}

#[test]
fn idle_workers_come_before_prefetching() {
    let mut table = table(|policy| policy.seats = 2);
    table.all(&[Event::Found(A), Event::Found(B), Event::Ready(worker(0, 1))]);
    assert_eq!(
        table.tell(Event::Ready(worker(1, 1))),
        [Command::Send(worker(1, 1), B)],
        "B was kept for the worker that was starting"
    );
}

#[test]
fn the_last_jobs_are_not_prefetched() {
    let mut table = one_seat();
    table.all(&[Event::Found(A), Event::Found(B), Event::WalkDone]);
    assert_eq!(
        table.tell(Event::Ready(first())),
        [Command::Send(first(), A)]
    );
}

#[test]
fn starting_to_cooling_to_vacant_after_a_failed_spawn() {
    let mut table = one_seat();
    table.tell(Event::Found(A));
    assert_eq!(table.tell(Event::SpawnFailed(first())), []);
    assert_eq!(table.deadline_ms(), Some(100));
    assert_eq!(
        table.at(100, Event::Tick),
        [Command::Spawn(second(), Cap::Usual)]
    );
}

#[test]
fn starting_to_dying_when_hello_never_comes() {
    let mut table = one_seat();
    table.tell(Event::Found(A));
    assert_eq!(table.deadline_ms(), Some(30_000));
    assert_eq!(
        table.at(30_000, Event::Tick),
        [Command::Kill(first(), KillReason::NeverReady)]
    );
    assert_eq!(
        table.at(30_001, Event::Exited(first(), Cause::CannotStart)),
        []
    );
    assert_eq!(table.deadline_ms(), Some(30_101), "cooling");
}

#[test]
fn three_bad_starts_in_a_row_end_the_run() {
    let mut table = one_seat();
    table.tell(Event::Found(A));
    table.tell(Event::Exited(worker(0, 1), Cause::Crashed));
    table.at(1_000, Event::Tick);
    table.at(1_000, Event::Exited(worker(0, 2), Cause::Crashed));
    table.at(2_000, Event::Tick);
    let commands = table.at(2_000, Event::Exited(worker(0, 3), Cause::Crashed));
    assert_eq!(
        commands,
        [Command::StopWalk, report(A, Ruling::Interrupted, None, 0),]
    );
    assert_eq!(
        table.at(2_001, Event::Recorded(A, Recorded::Fine)),
        [Command::Finish(Finish::Stopped(StopReason::CannotGoOn(
            CannotGoOn::BadStarts
        )))]
    );
}

#[test]
fn bad_starts_do_not_end_a_run_that_has_a_live_worker() {
    let mut table = table(|policy| policy.seats = 2);
    table.all(&[Event::Found(A), Event::Found(B), Event::Found(C)]);
    table.tell(Event::Ready(worker(0, 1)));
    table.all(&[Event::Started(worker(0, 1), A), Event::Found(D)]);
    for incarnation in 1..=9 {
        let now = u64::from(incarnation) * 6_000;
        table.at(now, Event::SpawnFailed(worker(1, incarnation)));
        assert_eq!(
            table.at(now + 5_999, Event::Tick),
            [Command::Spawn(worker(1, incarnation + 1), Cap::Usual)]
        );
    }
}

#[test]
fn five_idle_deaths_within_ten_seconds_end_the_run() {
    let mut table = one_seat();
    table.tell(Event::Found(A));
    for incarnation in 1..=4 {
        let now = u64::from(incarnation) * 100;
        table.at(now, Event::Ready(worker(0, incarnation)));
        let commands = table.at(now, Event::Exited(worker(0, incarnation), Cause::Left));
        assert_eq!(
            commands,
            [Command::Spawn(worker(0, incarnation + 1), Cap::Usual)]
        );
    }
    table.at(500, Event::Ready(worker(0, 5)));
    let commands = table.at(500, Event::Exited(worker(0, 5), Cause::Left));
    assert_eq!(
        commands,
        [
            Command::StopWalk,
            report(A, Ruling::Interrupted, Some(0), 0)
        ]
    );
}

#[test]
fn an_ambiguous_death_is_tried_again_in_the_next_process_and_the_prefetched_job_is_not_blamed() {
    let mut table = one_seat().busy();
    assert_eq!(
        table.tell(Event::Exited(first(), Cause::Crashed)),
        [Command::Spawn(second(), Cap::Usual)]
    );
    assert_eq!(
        table.tell(Event::Ready(second())),
        [Command::Send(second(), A), Command::Send(second(), B)]
    );
    table.tell(Event::Started(second(), A));
    let commands = table.tell(Event::Exited(second(), Cause::Crashed));
    assert_eq!(
        commands[0],
        report(A, Ruling::Died(Cause::Crashed), Some(0), 2)
    );
    let ready = table.tell(Event::Ready(worker(0, 3)));
    assert_eq!(ready[0], Command::Send(worker(0, 3), B));
}

#[test]
fn a_job_that_needs_a_fresh_process_makes_room_for_one() {
    let mut table = table(|policy| policy.seats = 2);
    table.all(&[
        Event::Found(A),
        Event::Found(B),
        Event::Ready(worker(0, 1)),
        Event::Ready(worker(1, 1)),
        Event::Started(worker(0, 1), A),
        Event::Started(worker(1, 1), B),
        done(worker(1, 1), B, Finding::Output),
        Event::Exited(worker(0, 1), Cause::Crashed),
    ]);
    let commands = table.tell(Event::SpawnFailed(worker(0, 2)));
    assert_eq!(
        commands,
        [Command::Close(worker(1, 1))],
        "a used worker must go"
    );
    assert_eq!(
        table.tell(Event::Exited(worker(1, 1), Cause::Left)),
        [Command::Spawn(worker(1, 2), Cap::Usual)]
    );
    assert_eq!(
        table.tell(Event::Ready(worker(1, 2))),
        [Command::Send(worker(1, 2), A)]
    );
}

#[test]
fn guilty_deaths_are_not_tried_again() {
    for cause in [
        Cause::Timeout,
        Cause::Panicked,
        Cause::Sandbox,
        Cause::OutputTooLarge,
        Cause::MemoryCap,
    ] {
        let mut table = one_seat().busy();
        let commands = table.tell(Event::Exited(first(), cause));
        assert_eq!(
            commands,
            [
                report(A, Ruling::Died(cause), Some(0), 1),
                Command::Spawn(second(), Cap::Usual)
            ]
        );
    }
}

#[test]
fn a_job_killed_from_outside_runs_again_at_the_end_with_no_other_beside_it() {
    let mut table = table(|policy| policy.seats = 2);
    table.all(&[
        Event::Found(A),
        Event::Found(B),
        Event::WalkDone,
        Event::Ready(worker(0, 1)),
        Event::Ready(worker(1, 1)),
        Event::Started(worker(0, 1), A),
        Event::Started(worker(1, 1), B),
    ]);
    assert_eq!(
        table.tell(Event::Exited(worker(0, 1), Cause::KilledOutside)),
        [],
        "B is still computed"
    );
    assert_eq!(
        table.tell(done(worker(1, 1), B, Finding::Output)),
        [publish(B, worker(1, 1), 0), Command::Send(worker(1, 1), A)]
    );
}

#[test]
fn many_crashing_jobs_spend_no_budget() {
    let mut table = table(|policy| policy.retries = 0);
    for n in 1..=50 {
        table.tell(Event::Found(JobId(u64::from(n))));
        table.tell(Event::Ready(worker(0, n)));
        table.tell(Event::Started(worker(0, n), JobId(u64::from(n))));
        let commands = table.tell(Event::Exited(worker(0, n), Cause::Crashed));
        assert_eq!(commands.len(), 1, "a report, and no end of the run");
    }
}

#[test]
fn live_to_dying_when_a_job_takes_too_long() {
    let mut table = one_seat().busy();
    assert_eq!(table.deadline_ms(), Some(120_000));
    assert_eq!(table.at(119_999, Event::Tick), []);
    assert_eq!(
        table.at(120_000, Event::Tick),
        [Command::Kill(first(), KillReason::Timeout)]
    );
    assert_eq!(table.at(120_000, Event::Tick), [], "killed once");
}

#[test]
fn the_clock_stands_still_while_the_user_has_the_run_stopped() {
    let mut table = one_seat().busy();
    table.at(100_000, Event::Paused);
    assert_eq!(table.deadline_ms(), None);
    assert_eq!(table.at(500_000, Event::Tick), []);
    table.at(600_000, Event::Resumed);
    assert_eq!(table.deadline_ms(), Some(620_000));
    assert_eq!(
        table.at(620_000, Event::Tick),
        [Command::Kill(first(), KillReason::Timeout)]
    );
}

#[test]
fn live_to_dying_when_a_job_is_never_begun() {
    let mut table = one_seat();
    table.all(&[Event::Found(A), Event::Ready(first())]);
    assert_eq!(
        table.at(30_000, Event::Tick),
        [Command::Kill(first(), KillReason::NeverStarted)]
    );
    table.at(30_001, Event::Exited(first(), Cause::Timeout));
    assert_eq!(
        table.at(30_002, Event::Ready(second())),
        [Command::Send(second(), A)],
        "the job is not to blame"
    );
}

#[test]
fn a_job_that_comes_back_again_and_again_is_to_blame_in_the_end() {
    let mut table = table(|policy| policy.idle_death_limit = 100);
    table.tell(Event::Found(A));
    for n in 1..=6 {
        table.tell(Event::Ready(worker(0, n)));
        let commands = table.tell(Event::Exited(worker(0, n), Cause::Crashed));
        let blamed = commands.contains(&report(A, Ruling::Died(Cause::Crashed), Some(0), 0));
        assert_eq!(blamed, n == 6);
    }
}

#[test]
fn a_job_that_only_waited_behind_others_that_crash_is_never_to_blame() {
    let mut table = table(|policy| policy.retries = 20);
    table.all(&[Event::Found(A), Event::Found(B), Event::Found(C)]);
    for n in 1..=20 {
        let sent = table.tell(Event::Ready(worker(0, n)));
        assert!(sent.contains(&Command::Send(worker(0, n), B)), "{sent:?}");
        table.tell(Event::Started(worker(0, n), A));
        assert_eq!(
            table.tell(Event::Exited(worker(0, n), Cause::Crashed)),
            [Command::Spawn(worker(0, n + 1), Cap::Usual)]
        );
    }
}

#[test]
fn dying_frees_the_seat_only_by_the_exit() {
    let mut table = one_seat().busy();
    table.tell(Event::Misbehaved(first()));
    assert_eq!(table.at(5, Event::Tick), []);
    assert_eq!(table.at(6, Event::Found(D)), []);
    assert_eq!(
        table.at(7, Event::Exited(first(), Cause::Protocol)),
        [Command::Spawn(second(), Cap::Usual)]
    );
}

#[test]
fn an_answer_after_a_kill_counts_if_it_comes_before_the_exit() {
    let mut table = one_seat().busy();
    table.at(120_000, Event::Tick);
    assert_eq!(
        table.at(120_001, done(first(), A, Finding::Output)),
        [publish(A, first(), 0)]
    );
}

#[test]
fn an_answer_of_a_worker_that_broke_the_protocol_does_not_count() {
    let mut table = one_seat().busy();
    table.tell(Event::Misbehaved(first()));
    assert_eq!(table.tell(done(first(), A, Finding::Output)), []);
}

#[test]
fn dying_to_written_off_when_the_process_cannot_be_killed() {
    let mut table = table(|policy| policy.seats = 2);
    table.all(&[
        Event::Found(A),
        Event::Ready(first()),
        Event::Started(first(), A),
    ]);
    table.at(60_000, Event::Found(B));
    table.at(60_000, Event::Ready(worker(1, 1)));
    table.at(60_000, Event::Started(worker(1, 1), B));
    table.at(120_000, Event::Tick);
    assert_eq!(
        table.at(130_000, Event::Tick),
        [
            Command::WriteOff(first()),
            report(A, Ruling::Died(Cause::Timeout), Some(0), 1)
        ]
    );
    assert_eq!(
        table.at(130_001, Event::Found(C)),
        [Command::Send(worker(1, 1), C)],
        "its seat stays taken"
    );
    table.at(140_000, Event::Exited(first(), Cause::Timeout));
    assert_eq!(
        table.at(140_001, Event::Found(D)),
        [Command::Spawn(second(), Cap::Usual)],
        "when it dies after all, its seat is used again"
    );
}

#[test]
fn a_run_with_every_seat_written_off_ends() {
    let mut table = one_seat().busy();
    table.at(120_000, Event::Tick);
    table.at(130_000, Event::Tick);
    let finish = [A, B, C].map(|job| table.at(130_001, Event::Recorded(job, Recorded::Fine)));
    assert_eq!(
        finish[2],
        [Command::Finish(Finish::Stopped(StopReason::CannotGoOn(
            CannotGoOn::NoSeatLeft
        )))]
    );
}

#[test]
fn nonsense_is_a_kill() {
    for nonsense in [
        Event::Ready(first()),
        Event::Started(first(), A),
        Event::Started(first(), B),
        Event::Started(first(), D),
        done(first(), B, Finding::Output),
        done(first(), D, Finding::Output),
        Event::Misbehaved(first()),
    ] {
        let mut table = one_seat().busy();
        assert_eq!(
            table.tell(nonsense),
            [Command::Kill(first(), KillReason::Misbehaved)],
            "{nonsense:?}"
        );
    }
}

#[test]
fn a_second_answer_is_nonsense() {
    let mut table = one_seat().busy();
    table.tell(done(first(), A, Finding::Output));
    assert_eq!(
        table.tell(done(first(), A, Finding::Output)),
        [Command::Kill(first(), KillReason::Misbehaved)]
    );
}

#[test]
fn an_older_process_is_not_heard() {
    let mut table = one_seat().busy();
    table.tell(Event::Exited(first(), Cause::Crashed));
    table.tell(Event::Ready(second()));
    for stale in [
        Event::Ready(first()),
        Event::Started(first(), A),
        done(first(), A, Finding::Output),
        Event::Misbehaved(first()),
        Event::Exited(first(), Cause::Crashed),
        Event::SpawnFailed(first()),
        Event::Misbehaved(worker(77, 1)),
    ] {
        assert_eq!(table.tell(stale), [], "{stale:?}");
    }
}

#[test]
fn over_memory_is_a_kill_with_its_reason() {
    let mut table = one_seat().busy();
    assert_eq!(
        table.tell(Event::OverMemory(first())),
        [Command::Kill(first(), KillReason::MemoryCap)]
    );
}

#[test]
fn what_needs_more_memory_runs_alone_at_the_end_with_more() {
    let mut table = table(|policy| policy.oversize_alone = true);
    table.all(&[
        Event::Found(A),
        Event::Found(B),
        Event::Ready(first()),
        Event::WalkDone,
        Event::Started(first(), A),
    ]);
    assert_eq!(
        table.tell(done(first(), A, Finding::MemoryCap)),
        [],
        "B comes first, and is there already"
    );
    table.tell(Event::Started(first(), B));
    assert_eq!(
        table.tell(done(first(), B, Finding::Output)),
        [publish(B, first(), 0), Command::Close(first())]
    );
    assert_eq!(
        table.tell(Event::Exited(first(), Cause::Left)),
        [Command::Spawn(second(), Cap::Big)]
    );
    assert_eq!(
        table.tell(Event::Ready(second())),
        [Command::Send(second(), A)]
    );
    table.tell(Event::Started(second(), A));
    assert_eq!(
        table.tell(done(second(), A, Finding::MemoryCap)),
        [
            report(A, Ruling::Told, Some(0), 0),
            Command::Close(second())
        ]
    );
}

#[test]
fn a_changed_source_is_looked_at_once_more() {
    let mut table = one_seat().busy();
    assert_eq!(
        table.tell(done(first(), A, Finding::Changed)),
        [Command::Reexamine(A), Command::Send(first(), C)]
    );
    table.all(&[
        Event::Started(first(), B),
        done(first(), B, Finding::Failed),
        Event::Started(first(), C),
        done(first(), C, Finding::Failed),
        Event::Started(first(), A),
    ]);
    assert_eq!(
        table.tell(done(first(), A, Finding::Changed)),
        [report(A, Ruling::Told, Some(0), 0)]
    );
}

#[test]
fn a_worker_is_replaced_after_enough_jobs() {
    let mut table = table(|policy| policy.recycle_after = 1).busy();
    assert_eq!(
        table.tell(done(first(), A, Finding::Output)),
        [publish(A, first(), 0)],
        "it holds B still, and gets nothing more"
    );
    table.tell(Event::Started(first(), B));
    assert_eq!(
        table.tell(done(first(), B, Finding::Output)),
        [publish(B, first(), 0), Command::Close(first())]
    );
    assert_eq!(
        table.tell(Event::Exited(first(), Cause::Left)),
        [Command::Spawn(second(), Cap::Usual)]
    );
}

#[test]
fn a_worker_that_has_grown_fat_is_replaced() {
    let mut table = table(|policy| policy.recycle_rss = 100);
    table.all(&[
        Event::Found(A),
        Event::Ready(first()),
        Event::Started(first(), A),
    ]);
    let fat = Event::Done {
        worker: first(),
        job: A,
        finding: Finding::Output,
        rss: 101,
    };
    assert_eq!(
        table.tell(fat),
        [publish(A, first(), 0), Command::Close(first())]
    );
}

#[test]
fn closing_to_dying_when_the_worker_does_not_leave() {
    let mut table = one_seat();
    table.all(&[
        Event::Found(A),
        Event::Ready(first()),
        Event::Started(first(), A),
        Event::WalkDone,
    ]);
    assert_eq!(
        table.tell(done(first(), A, Finding::Output)),
        [publish(A, first(), 0), Command::Close(first())]
    );
    assert_eq!(
        table.at(5_000, Event::Tick),
        [Command::Kill(first(), KillReason::NeverLeft)]
    );
    table.at(5_001, Event::Recorded(A, Recorded::Fine));
    assert_eq!(
        table.at(5_002, Event::Exited(first(), Cause::Left)),
        [Command::Finish(Finish::Complete)]
    );
    assert_eq!(table.at(5_003, Event::Tick), [], "nothing after Finish");
}

#[test]
fn finish_waits_for_the_last_record() {
    let mut table = one_seat();
    table.all(&[
        Event::Found(A),
        Event::Ready(first()),
        Event::Started(first(), A),
        Event::WalkDone,
        done(first(), A, Finding::Output),
    ]);
    assert_eq!(table.tell(Event::Exited(first(), Cause::Left)), []);
    assert_eq!(table.tell(Event::Recorded(B, Recorded::Fine)), []);
    assert_eq!(
        table.tell(Event::Recorded(A, Recorded::Fine)),
        [Command::Finish(Finish::Complete)]
    );
}

#[test]
fn an_empty_run_finishes_at_once() {
    assert_eq!(
        one_seat().tell(Event::WalkDone),
        [Command::Finish(Finish::Complete)]
    );
}

#[test]
fn the_first_signal_drains_and_the_second_kills() {
    let mut table = one_seat().busy();
    assert_eq!(
        table.tell(Event::Stop(Stop::Drain)),
        [Command::StopWalk, report(C, Ruling::Interrupted, None, 0)]
    );
    assert_eq!(table.deadline_ms(), Some(10_000), "the grace time");
    assert_eq!(
        table.tell(Event::Stop(Stop::Kill)),
        [Command::Kill(first(), KillReason::Stopped)]
    );
    assert_eq!(
        table.tell(Event::Exited(first(), Cause::Stopped)),
        [
            report(B, Ruling::Interrupted, Some(0), 0),
            report(A, Ruling::Interrupted, Some(0), 0)
        ]
    );
    table.tell(Event::Recorded(A, Recorded::Fine));
    table.tell(Event::Recorded(B, Recorded::Fine));
    assert_eq!(
        table.tell(Event::Recorded(C, Recorded::Fine)),
        [Command::Finish(Finish::Stopped(StopReason::Asked))]
    );
}

#[test]
fn draining_ends_what_is_computed_and_nothing_more() {
    let mut table = one_seat().busy();
    table.tell(Event::Stop(Stop::Drain));
    assert_eq!(
        table.tell(done(first(), A, Finding::Output)),
        [publish(A, first(), 0), Command::Close(first())]
    );
    assert_eq!(
        table.tell(Event::Exited(first(), Cause::Left)),
        [report(B, Ruling::Interrupted, Some(0), 0)]
    );
}

#[test]
fn the_grace_time_ends_in_a_kill() {
    let mut table = one_seat().busy();
    table.tell(Event::Stop(Stop::Drain));
    assert_eq!(table.at(9_999, Event::Tick), []);
    assert_eq!(
        table.at(10_000, Event::Tick),
        [Command::Kill(first(), KillReason::Stopped)]
    );
}

#[test]
fn a_crash_while_draining_is_left_for_the_next_run() {
    let mut table = one_seat().busy();
    table.tell(Event::Stop(Stop::Drain));
    let commands = table.tell(Event::Exited(first(), Cause::Crashed));
    assert!(commands.contains(&report(A, Ruling::Interrupted, Some(0), 1)));
}

#[test]
fn a_prefetched_job_that_was_begun_after_the_close_is_not_blamed_for_the_leaving() {
    let causes = [Cause::Left, Cause::Crashed, Cause::Timeout];
    for (retries, cause) in [0, 1].into_iter().flat_map(|n| causes.map(|c| (n, c))) {
        let mut table = table(|policy| policy.retries = retries).busy();
        table.tell(Event::Stop(Stop::Drain));
        let commands = table.tell(done(first(), A, Finding::Output));
        assert!(commands.contains(&Command::Close(first())));
        assert_eq!(table.tell(Event::Started(first(), B)), []);
        assert_eq!(
            table.tell(Event::Exited(first(), cause)),
            [report(B, Ruling::Interrupted, Some(0), 0)]
        );
    }
}

#[test]
fn a_job_begun_in_a_worker_that_has_to_be_killed_to_leave_is_not_blamed() {
    let mut table = table(|policy| policy.retries = 0).busy();
    table.tell(Event::Stop(Stop::Drain));
    table.tell(done(first(), A, Finding::Output));
    table.tell(Event::Started(first(), B));
    assert_eq!(
        table.at(5_000, Event::Tick),
        [Command::Kill(first(), KillReason::NeverLeft)]
    );
    assert_eq!(
        table.at(5_001, Event::Exited(first(), Cause::Left)),
        [report(B, Ruling::Interrupted, Some(0), 0)]
    );
}

#[test]
fn a_worker_killed_with_a_job_in_hand_is_not_idle_once_any_job_was_done() {
    let mut table = one_seat();
    table.all(&[
        Event::Found(A),
        Event::Ready(first()),
        Event::Started(first(), A),
        done(first(), A, Finding::Output),
        Event::Exited(first(), Cause::KilledOutside),
        Event::Found(B),
        Event::Found(C),
    ]);
    for incarnation in 2..=6 {
        table.tell(Event::Ready(worker(0, incarnation)));
        let commands = table.tell(Event::Exited(worker(0, incarnation), Cause::KilledOutside));
        assert!(!commands.contains(&Command::StopWalk), "{incarnation}");
    }
}

#[test]
fn what_is_found_after_the_end_was_asked_for_is_interrupted() {
    let mut table = one_seat().busy();
    table.tell(Event::Stop(Stop::Drain));
    assert_eq!(
        table.tell(Event::Found(D)),
        [report(D, Ruling::Interrupted, None, 0)]
    );
    assert!(!table.0.wants_more());
}

#[test]
fn run_for_drains() {
    let mut table = table(|policy| policy.run_for = Some(Duration::from_secs(5))).busy();
    assert_eq!(table.deadline_ms(), Some(5_000));
    assert_eq!(table.at(5_000, Event::Tick)[0], Command::StopWalk);
}

#[test]
fn too_many_failures_drain() {
    let mut table = table(|policy| policy.max_fail = Some(MaxFail::Count(2))).busy();
    let commands = table.tell(done(first(), A, Finding::Failed));
    assert!(!commands.contains(&Command::StopWalk), "{commands:?}");
    assert_eq!(table.tell(Event::Recorded(A, Recorded::Failed)), []);
    table.tell(Event::Started(first(), B));
    let commands = table.tell(done(first(), B, Finding::Failed));
    assert!(commands.contains(&Command::StopWalk), "{commands:?}");
}

#[test]
fn failures_that_a_slow_disk_has_not_recorded_yet_are_too_many_as_well() {
    let mut table = table(|policy| policy.max_fail = Some(MaxFail::Count(2))).busy();
    table.tell(done(first(), A, Finding::Failed));
    table.all(&[Event::Started(first(), B), Event::Found(D)]);
    let commands = table.tell(done(first(), B, Finding::Failed));
    for expected in [Command::StopWalk, report(D, Ruling::Interrupted, None, 0)] {
        assert!(commands.contains(&expected), "{commands:?}");
    }
}

#[test]
fn while_memory_is_low_there_is_one_image_at_a_time() {
    let mut table = table(|policy| policy.seats = 2);
    let second = worker(1, 1);
    table.all(&[Event::Found(A), Event::Found(B)]);
    table.all(&[Event::Ready(first()), Event::Ready(second)]);
    table.all(&[Event::Started(first(), A), Event::Started(second, B)]);
    table.all(&[Event::MemoryLow, Event::Found(C)]);
    let sent = |commands: &[Command]| {
        commands
            .iter()
            .filter(|command| matches!(command, Command::Send(..)))
            .count()
    };
    let commands = table.tell(done(first(), A, Finding::Output));
    assert_eq!(sent(&commands), 0, "another is computed: {commands:?}");
    let commands = table.tell(done(second, B, Finding::Output));
    assert_eq!(sent(&commands), 1, "one goes on: {commands:?}");
    let commands = table.tell(Event::Found(D));
    assert_eq!(sent(&commands), 0, "{commands:?}");
    let commands = table.tell(Event::MemoryEnough);
    assert_eq!(sent(&commands), 1, "{commands:?}");
}

#[test]
fn inputs_that_were_refused_before_they_were_jobs_count_as_failures() {
    let mut table = table(|policy| policy.max_fail = Some(MaxFail::Count(2))).busy();
    assert_eq!(table.tell(Event::Refused(Recorded::Failed)), []);
    let commands = table.tell(Event::Refused(Recorded::Failed));
    assert_eq!(commands[0], Command::StopWalk);
}

#[test]
fn three_files_in_a_row_on_a_full_disk_stop_dispatch() {
    let full = Recorded::DiskFull;
    let mut table = one_seat();
    table.all(&[Event::Found(A), Event::Ready(first())]);
    let mut stops = Vec::new();
    for (n, recorded) in [
        full,
        full,
        Recorded::Fine,
        full,
        Recorded::Failed,
        full,
        full,
    ]
    .into_iter()
    .enumerate()
    {
        let job = JobId(n as u64 + 1);
        table.all(&[
            Event::Found(JobId(n as u64 + 2)),
            Event::Started(first(), job),
            done(first(), job, Finding::Failed),
        ]);
        let commands = table.tell(Event::Recorded(job, recorded));
        stops.push(commands.contains(&Command::StopWalk));
    }
    assert_eq!(stops, [false, false, false, false, false, false, true]);
}

#[test]
fn a_weaker_reason_never_replaces_a_stronger_one() {
    let mut table = table(|policy| policy.max_fail = Some(MaxFail::Count(1))).busy();
    table.tell(Event::Stop(Stop::Drain));
    table.tell(done(first(), A, Finding::Failed));
    table.tell(Event::Recorded(A, Recorded::Failed));
    table.tell(Event::Recorded(C, Recorded::Fine));
    table.tell(Event::Exited(first(), Cause::Left));
    assert_eq!(
        table.tell(Event::Recorded(B, Recorded::Fine)),
        [Command::Finish(Finish::Stopped(StopReason::Asked))]
    );
}

#[test]
fn without_a_recorder_nothing_goes_on() {
    let mut table = one_seat().busy();
    let commands = table.tell(Event::RecorderLost);
    assert!(commands.contains(&Command::Kill(first(), KillReason::Stopped)));
    let commands = table.tell(Event::Exited(first(), Cause::Stopped));
    assert_eq!(
        commands.last(),
        Some(&Command::Finish(Finish::Stopped(StopReason::CannotGoOn(
            CannotGoOn::RecorderLost
        ))))
    );
}

#[test]
fn the_queue_is_small_and_the_walk_waits() {
    let mut table = table(|policy| policy.queue_limit = 3);
    let mut found = 0;
    while table.0.wants_more() {
        found += 1;
        table.tell(Event::Found(JobId(found)));
    }
    assert_eq!(found, 3);
    table.tell(Event::Ready(first()));
    assert!(table.0.wants_more(), "two are with the worker now");
}

#[test]
fn a_recorder_that_lags_behind_holds_up_dispatch() {
    let mut table = table(|policy| policy.unrecorded_limit = 1).busy();
    assert_eq!(
        table.tell(done(first(), A, Finding::Output)),
        [publish(A, first(), 0)]
    );
    assert_eq!(
        table.tell(Event::Recorded(A, Recorded::Fine)),
        [Command::Send(first(), C)]
    );
}
