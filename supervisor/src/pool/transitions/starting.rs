//! From a found job to a worker that has it, and starts that go wrong.

use super::*;

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
