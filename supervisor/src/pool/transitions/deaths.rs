//! Deaths, refusals and nonsense: who is to blame, and what is tried again.

use super::*;

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
