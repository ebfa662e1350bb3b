//! Workers replaced in time, ends of the run of every kind, and what holds dispatch up.

use super::*;

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
