//! Random schedules: a simulated world that lies, crashes, delays, repeats itself and forgets, driven in virtual time.
//!
//! Each schedule is a function of its seed. A failure names the seed; `PRESSROOM_SCHEDULE_SEED=N cargo test schedules`
//! replays that one alone and prints every step. `PRESSROOM_SCHEDULES=N` sets how many random ones are run.

use super::*;
use pressroom_shared::{Incarnation, JobId, SeatId};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap};
use std::time::Duration;

/// Schedules of fixed seeds, and of seeds that differ from run to run.
const FIXED: u64 = 55_000;
const RANDOM: u64 = 55_000;

/// SplitMix64: small, good enough, and the same everywhere.
struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[usize::try_from(self.below(from.len() as u64)).expect("small")]
    }
}

/// What a process may die of by itself; `Stopped` is never one of them.
const CAUSES: [Cause; 11] = [
    Cause::MemoryCap,
    Cause::HostMemory,
    Cause::KilledOutside,
    Cause::Crashed,
    Cause::Panicked,
    Cause::Timeout,
    Cause::Sandbox,
    Cause::OutputTooLarge,
    Cause::Protocol,
    Cause::CannotStart,
    Cause::Left,
];

/// A simulated process.
struct Process {
    cap: Cap,
    ready: bool,
    free_at: u64,
    hangs: bool,
    exit_at: Option<u64>,
    told_to_leave: bool,
    killed_for: Option<KillReason>,
    written_off: bool,
    exited: bool,
    given: u32,
    holds: Vec<JobId>,
    begun: Option<JobId>,
}

/// How unfriendly a world is, each as "one in n".
struct Temper {
    crash: u64,
    hang: u64,
    lie: u64,
    bad_start: u64,
    stale: u64,
}

#[derive(Default)]
struct Job {
    /// Processes that really died while they computed it.
    killers: u8,
    /// Processes that left it behind for any reason.
    left_behind: u8,
    sent_to: Option<WorkerId>,
    begun: u8,
    answered: Option<(WorkerId, Finding)>,
    needs_fresh: bool,
    needs_alone: bool,
    changed: bool,
    too_big: bool,
    reported: bool,
    interrupted: bool,
    recorded: bool,
}

struct World {
    seed: u64,
    rng: Rng,
    temper: Temper,
    policy: Policy,
    machine: Machine,
    now: u64,
    order: u64,
    inbox: BinaryHeap<Reverse<(u64, u64, usize)>>,
    events: Vec<Event>,
    processes: HashMap<WorkerId, Process>,
    newest: HashMap<SeatId, Incarnation>,
    jobs: HashMap<JobId, Job>,
    to_find: u64,
    walk_told: bool,
    stop_told: bool,
    recorder_lost: bool,
    finish: Option<Finish>,
    trace: bool,
}

fn moment(ms: u64) -> Moment {
    Moment::after(Duration::from_millis(ms))
}

impl World {
    fn new(seed: u64, trace: bool) -> Self {
        let mut rng = Rng(seed);
        let mut policy = Policy::new(u16::try_from(1 + rng.below(4)).expect("small"));
        policy.job_timeout = Duration::from_millis(200);
        policy.start_timeout = Duration::from_millis(100);
        policy.take_up_timeout = Duration::from_millis(100);
        policy.close_timeout = Duration::from_millis(50);
        policy.reap_timeout = Duration::from_millis(100);
        policy.grace = Duration::from_millis(rng.below(300));
        policy.run_for = rng.one_in(12).then(|| Duration::from_millis(300));
        policy.max_fail = rng.one_in(12).then_some(MaxFail::Count(2));
        policy.recycle_after = rng.pick(&[1, 3, 1000]);
        policy.recycle_rss = rng.pick(&[50, u64::MAX]);
        policy.oversize_alone = rng.one_in(2);
        policy.retries = rng.pick(&[1, 1, 1, 0, 2]);
        policy.queue_limit = rng.pick(&[1, 2, 8, 64]);
        policy.unrecorded_limit = rng.pick(&[1, 3, 100]);
        let calm = rng.one_in(3);
        let temper = Temper {
            crash: if calm { 40 } else { rng.pick(&[2, 5, 15]) },
            hang: rng.pick(&[10, 40, 1000]),
            lie: rng.pick(&[8, 40, 10_000]),
            bad_start: rng.pick(&[3, 20, 1000]),
            stale: rng.pick(&[3, 10]),
        };
        let mut world = Self {
            seed,
            temper,
            machine: Machine::new(policy.clone()),
            policy,
            now: 0,
            order: 0,
            inbox: BinaryHeap::new(),
            events: Vec::new(),
            processes: HashMap::new(),
            newest: HashMap::new(),
            jobs: HashMap::new(),
            to_find: rng.below(12),
            walk_told: false,
            stop_told: false,
            recorder_lost: false,
            finish: None,
            trace,
            rng,
        };
        world.plan_interruptions();
        world
    }

    /// Stops, pauses and a lost recorder, in some worlds.
    fn plan_interruptions(&mut self) {
        if self.rng.one_in(6) {
            let first = self.rng.below(400);
            let level = self.rng.pick(&[Stop::Drain, Stop::Drain, Stop::Kill]);
            self.post(first, Event::Stop(level));
            if self.rng.one_in(3) {
                let second = first + self.rng.below(100);
                self.post(second, Event::Stop(Stop::Kill));
            }
        }
        if self.rng.one_in(8) {
            let at = self.rng.below(300);
            let span = self.rng.below(2000);
            self.post(at, Event::Paused);
            self.post(at + span, Event::Resumed);
        }
        if self.rng.one_in(6) {
            // For a while, for ever, or said twice.
            let at = self.rng.below(300);
            let span = self.rng.below(1000);
            self.post(at, Event::MemoryLow);
            if self.rng.one_in(2) {
                self.post(at + span, Event::MemoryEnough);
            }
            if self.rng.one_in(3) {
                self.post(at + 2 * span, Event::MemoryLow);
            }
        }
        if self.rng.one_in(40) {
            let at = self.rng.below(400);
            self.post(at, Event::RecorderLost);
        }
    }

    fn post(&mut self, after: u64, event: Event) {
        let slot = self.events.len();
        self.events.push(event);
        self.order += 1;
        self.inbox
            .push(Reverse((self.now + after, self.order, slot)));
    }

    fn fail(&self, what: &str) -> ! {
        panic!("{what}; replay with PRESSROOM_SCHEDULE_SEED={}", self.seed)
    }

    fn check(&self, holds: bool, what: &str) {
        if !holds {
            self.fail(what);
        }
    }

    fn run(mut self) -> Ended {
        let mut steps = 0;
        while self.finish.is_none() {
            steps += 1;
            self.check(steps < 20_000, "the run goes round in circles");
            self.step();
            while let Some(command) = self.machine.poll() {
                self.obey(command);
            }
        }
        self.machine.handle(moment(self.now), Event::Tick);
        let silent = self.machine.poll().is_none() && self.machine.next_deadline().is_none();
        self.check(silent, "something came after Finish");
        self.ended()
    }

    /// One thing happens: an image is found, a message arrives, or time runs out.
    fn step(&mut self) {
        if self.find() {
            return;
        }
        let message = self.inbox.peek().map(|Reverse((at, _, _))| *at);
        let deadline = self.machine.next_deadline().map(|at| {
            let micros = u64::try_from(at.elapsed().as_micros()).expect("short runs");
            micros.div_ceil(1000).max(self.now)
        });
        match (message, deadline) {
            (Some(message), deadline) if deadline.is_none_or(|d| message <= d) => self.deliver(),
            (_, Some(deadline)) => {
                self.now = deadline;
                self.tell(Event::Tick);
            }
            (Some(_), None) => self.deliver(),
            (None, None) if !self.walk_told && self.machine.wants_more() => {}
            (None, None) => self.fail("the run is stuck"),
        }
    }

    fn find(&mut self) -> bool {
        if self.walk_told || !self.machine.wants_more() || self.rng.one_in(3) {
            return false;
        }
        if self.to_find == 0 {
            self.walk_told = true;
            self.tell(Event::WalkDone);
        } else {
            self.to_find -= 1;
            let job = JobId(self.jobs.len() as u64);
            self.jobs.insert(job, Job::default());
            self.tell(Event::Found(job));
        }
        true
    }

    fn tell(&mut self, event: Event) {
        if self.trace {
            eprintln!("{:>6} <- {event:?}", self.now);
        }
        self.machine.handle(moment(self.now), event);
    }

    fn deliver(&mut self) {
        let Some(Reverse((at, _, slot))) = self.inbox.pop() else {
            return;
        };
        self.now = self.now.max(at);
        let event = self.events[slot];
        if self.is_real(event, at) {
            self.note(event);
            self.tell(event);
        } else if self.rng.one_in(self.temper.stale) && self.is_stale(event) {
            self.tell(event);
        }
    }

    /// Whether the process that sends this can still send it.
    fn is_real(&self, event: Event, at: u64) -> bool {
        match event {
            Event::Exited(worker, _) | Event::SpawnFailed(worker) => {
                let process = &self.processes[&worker];
                !process.exited && process.exit_at == Some(at)
            }
            Event::Ready(worker)
            | Event::Started(worker, _)
            | Event::Done { worker, .. }
            | Event::Misbehaved(worker)
            | Event::OverMemory(worker) => {
                let process = &self.processes[&worker];
                !process.exited && process.exit_at.is_none_or(|exit| at <= exit)
            }
            Event::Found(_)
            | Event::WalkDone
            | Event::Recorded(..)
            | Event::Refused(_)
            | Event::MemoryLow
            | Event::MemoryEnough
            | Event::RecorderLost
            | Event::Stop(_)
            | Event::Paused
            | Event::Resumed
            | Event::Tick => true,
        }
    }

    /// Whether this is a message of a process whose exit was told already.
    fn is_stale(&self, event: Event) -> bool {
        match event {
            Event::Exited(worker, _)
            | Event::SpawnFailed(worker)
            | Event::Ready(worker)
            | Event::Started(worker, _)
            | Event::Done { worker, .. }
            | Event::Misbehaved(worker)
            | Event::OverMemory(worker) => self.processes[&worker].exited,
            Event::Found(_)
            | Event::WalkDone
            | Event::Recorded(..)
            | Event::Refused(_)
            | Event::MemoryLow
            | Event::MemoryEnough
            | Event::RecorderLost
            | Event::Stop(_)
            | Event::Paused
            | Event::Resumed
            | Event::Tick => false,
        }
    }

    /// What the world knows once the machine was told.
    fn note(&mut self, event: Event) {
        match event {
            Event::Exited(worker, cause) => self.note_exit(worker, cause),
            Event::SpawnFailed(worker) => self.process(worker).exited = true,
            Event::Ready(worker) => self.process(worker).ready = true,
            Event::Started(worker, job) => {
                let process = self.process(worker);
                if process.begun.is_none() && process.holds.first() == Some(&job) {
                    process.begun = Some(job);
                    self.job(job).begun += 1;
                }
            }
            Event::Done {
                worker,
                job,
                finding,
                ..
            } => {
                let process = self.process(worker);
                let believed = process.killed_for != Some(KillReason::Misbehaved);
                if process.begun == Some(job) && believed {
                    process.begun = None;
                    process.holds.remove(0);
                    let job = self.job(job);
                    job.answered = Some((worker, finding));
                    job.sent_to = None;
                    job.changed |= finding == Finding::Changed;
                    job.too_big |= finding == Finding::MemoryCap;
                }
            }
            Event::Recorded(job, _) => self.job(job).recorded = true,
            Event::RecorderLost => self.recorder_lost = true,
            Event::Stop(_) => self.stop_told = true,
            Event::Found(_)
            | Event::WalkDone
            | Event::Refused(_)
            | Event::MemoryLow
            | Event::MemoryEnough
            | Event::Misbehaved(_)
            | Event::OverMemory(_)
            | Event::Paused
            | Event::Resumed
            | Event::Tick => {}
        }
    }

    fn write_off(&mut self, worker: WorkerId) {
        let process = self.process(worker);
        let right = process.killed_for.is_some() && !process.exited && !process.written_off;
        process.written_off = true;
        let cause = process.killed_for.map_or(Cause::Left, Cause::from);
        self.check(right, "written off without need");
        self.lose_jobs(worker, cause);
    }

    /// Whether the machine asked the process to go, so that its end proves nothing.
    fn was_let_go(process: &Process) -> bool {
        let stopped = matches!(
            process.killed_for,
            Some(KillReason::Stopped | KillReason::NeverLeft)
        );
        stopped || (process.told_to_leave && process.killed_for.is_none())
    }

    fn note_exit(&mut self, worker: WorkerId, cause: Cause) {
        self.process(worker).exited = true;
        self.lose_jobs(worker, cause);
    }

    fn lose_jobs(&mut self, worker: WorkerId, cause: Cause) {
        let process = self.process(worker);
        let let_go = Self::was_let_go(process);
        let (begun, holds) = (process.begun.take(), std::mem::take(&mut process.holds));
        for id in holds {
            let job = self.job(id);
            if job.sent_to == Some(worker) {
                job.sent_to = None;
                job.killers += u8::from(begun == Some(id) && !let_go);
                job.left_behind += u8::from(!let_go);
                if begun == Some(id) {
                    job.needs_fresh = cause.blame() == Blame::TryFresh;
                    job.needs_alone |= cause.blame() == Blame::TryAlone;
                    job.too_big |= cause == Cause::MemoryCap;
                }
            }
        }
    }

    fn process(&mut self, worker: WorkerId) -> &mut Process {
        self.processes
            .get_mut(&worker)
            .expect("a process that was asked for")
    }

    fn job(&mut self, job: JobId) -> &mut Job {
        self.jobs.get_mut(&job).expect("a job that was found")
    }

    fn obey(&mut self, command: Command) {
        if self.trace {
            eprintln!("{:>6} -> {command:?}", self.now);
        }
        self.check(self.finish.is_none(), "a command after Finish");
        match command {
            Command::Spawn(worker, cap) => self.spawn(worker, cap),
            Command::Send(worker, job) => self.send(worker, job),
            Command::Close(worker) => self.close(worker),
            Command::Kill(worker, reason) => self.kill(worker, reason),
            Command::WriteOff(worker) => self.write_off(worker),
            Command::Publish { job, worker, .. } => {
                let answer = self.jobs[&job].answered;
                self.check(
                    answer == Some((worker, Finding::Output)),
                    "published without a result",
                );
                self.settle(job, false);
            }
            Command::Report {
                job,
                verdict,
                deaths,
                ..
            } => {
                let most = self.policy.retries + 1 + u8::from(self.jobs[&job].too_big);
                self.check(deaths <= most, "more deaths than tries");
                let known = &self.jobs[&job];
                self.check(deaths <= known.killers, "a death that never was");
                let blamed = matches!(verdict, Ruling::Died(_));
                self.check(!blamed || known.left_behind > 0, "blamed for no death");
                self.settle(job, verdict == Ruling::Interrupted);
            }
            Command::Reexamine(job) => {
                let answer = self.jobs[&job].answered.map(|(_, finding)| finding);
                self.check(
                    answer == Some(Finding::Changed),
                    "looked again without need",
                );
            }
            Command::StopWalk => self.walk_told = true,
            Command::Finish(finish) => self.finish = Some(finish),
        }
    }

    fn spawn(&mut self, worker: WorkerId, cap: Cap) {
        let newest = self.newest.insert(worker.seat, worker.incarnation);
        self.check(
            newest < Some(worker.incarnation),
            "an incarnation came twice",
        );
        self.check(worker.seat.0 < self.policy.seats, "a seat too many");
        if let Some(before) = newest {
            let before = WorkerId {
                incarnation: before,
                ..worker
            };
            self.check(self.processes[&before].exited, "two processes in a seat");
        }
        if cap == Cap::Big {
            let alone = self.processes.values().all(|p| p.exited || p.written_off);
            self.check(alone, "a big worker is not alone");
        }
        let mut process = Process {
            cap,
            ready: false,
            free_at: 0,
            hangs: false,
            exit_at: None,
            told_to_leave: false,
            killed_for: None,
            written_off: false,
            exited: false,
            given: 0,
            holds: Vec::new(),
            begun: None,
        };
        let after = 1 + self.rng.below(10);
        if self.rng.one_in(self.temper.bad_start) {
            match self.rng.below(3) {
                0 => {
                    process.exit_at = Some(self.now + after);
                    self.post(after, Event::SpawnFailed(worker));
                }
                1 => {
                    process.exit_at = Some(self.now + after);
                    let cause = self.rng.pick(&CAUSES);
                    self.post(after, Event::Exited(worker, cause));
                }
                _ => {}
            }
        } else {
            process.free_at = self.now + after;
            self.post(after, Event::Ready(worker));
        }
        self.processes.insert(worker, process);
        if self.rng.one_in(self.temper.crash * 4) {
            let after = after + self.rng.below(100);
            self.die(worker, after);
        }
    }

    /// The process dies by itself some time from now, if nothing ends it before.
    fn die(&mut self, worker: WorkerId, after: u64) {
        let cause = self.rng.pick(&CAUSES);
        let at = self.now + after;
        let process = self.process(worker);
        if process.exit_at.is_none_or(|exit| exit > at) {
            process.exit_at = Some(at);
            self.post(after, Event::Exited(worker, cause));
        }
    }

    fn send(&mut self, worker: WorkerId, id: JobId) {
        let process = &self.processes[&worker];
        let job = &self.jobs[&id];
        self.check(!process.exited, "sent to a dead process");
        self.check(process.ready, "sent to a process that did not say hello");
        self.check(
            process.killed_for.is_none() && !process.told_to_leave,
            "sent to a process on its way out",
        );
        self.check(process.holds.len() < 2, "more than two jobs in one worker");
        self.check(job.sent_to.is_none(), "one job in two workers");
        self.check(!job.reported, "sent after its report");
        let tries = 1 + self.policy.retries + u8::from(job.changed) + u8::from(job.too_big);
        self.check(job.begun < tries, "too many tries");
        let fresh = !job.needs_fresh || process.given == 0 || process.cap == Cap::Big;
        self.check(fresh || job.too_big, "tried again in a used process");
        let company = self
            .processes
            .iter()
            .filter(|(other, _)| **other != worker)
            .flat_map(|(_, process)| &process.holds);
        let disturbed = company
            .clone()
            .any(|other| job.needs_alone || self.jobs[other].needs_alone);
        self.check(!disturbed, "a job that must be alone is not");
        if process.cap == Cap::Big {
            let others = self
                .processes
                .iter()
                .any(|(other, p)| *other != worker && !p.exited && !p.written_off);
            self.check(!others && job.too_big, "a big worker is not alone");
        }
        let process = self.process(worker);
        process.given += 1;
        process.holds.push(id);
        let (free_at, hangs) = (process.free_at, process.hangs);
        let begin = free_at.max(self.now);
        let job = self.job(id);
        job.sent_to = Some(worker);
        job.answered = None;
        job.needs_fresh = false;
        if !hangs {
            self.compute(worker, id, begin - self.now);
        }
    }

    /// What the worker will say about the job, and whether it survives it.
    fn compute(&mut self, worker: WorkerId, job: JobId, wait: u64) {
        let begin = wait + self.rng.below(5);
        if self.rng.one_in(self.temper.hang * 2) {
            self.process(worker).hangs = true;
            return;
        }
        let silent = self.rng.one_in(self.temper.lie);
        if !silent {
            self.post(begin, Event::Started(worker, job));
        }
        let end = begin + 1 + self.rng.below(60);
        self.process(worker).free_at = self.now + end;
        if self.rng.one_in(self.temper.crash) {
            return self.die(worker, end);
        }
        if self.rng.one_in(self.temper.hang) {
            self.process(worker).hangs = true;
            return;
        }
        let findings = [
            Finding::Output,
            Finding::Output,
            Finding::Failed,
            Finding::MemoryCap,
            Finding::Changed,
        ];
        let done = Event::Done {
            worker,
            job,
            finding: self.rng.pick(&findings),
            rss: self.rng.below(100),
        };
        self.post(end, done);
        if self.rng.one_in(self.temper.lie) {
            self.lie(worker, job, end, done);
        }
    }

    fn lie(&mut self, worker: WorkerId, job: JobId, end: u64, done: Event) {
        let after = self.rng.below(end + 5);
        let other = JobId(self.rng.below(self.jobs.len() as u64));
        let wrong = Event::Done {
            worker,
            job: other,
            finding: Finding::Output,
            rss: 0,
        };
        let lies = [
            wrong,
            done,
            Event::Ready(worker),
            Event::Started(worker, job),
            Event::Started(worker, other),
            Event::Misbehaved(worker),
            Event::OverMemory(worker),
        ];
        let lie = self.rng.pick(&lies);
        self.post(after, lie);
    }

    fn close(&mut self, worker: WorkerId) {
        let process = self.process(worker);
        let right = !process.exited && process.killed_for.is_none() && !process.told_to_leave;
        process.told_to_leave = true;
        self.check(right, "closed a process that is on its way out");
        if !self.rng.one_in(self.temper.hang) {
            let after = self.rng.below(20);
            self.leave(worker, after, Cause::Left);
        }
    }

    fn kill(&mut self, worker: WorkerId, reason: KillReason) {
        let process = self.process(worker);
        let right = !process.exited && process.killed_for.is_none();
        process.killed_for = Some(reason);
        self.check(right, "killed twice, or killed a dead process");
        if !self.rng.one_in(self.temper.hang * 2) {
            let after = self.rng.below(20);
            self.leave(worker, after, reason.into());
        }
    }

    fn leave(&mut self, worker: WorkerId, after: u64, cause: Cause) {
        let at = self.now + after;
        let process = self.process(worker);
        if process.exit_at.is_none_or(|exit| exit > at) {
            process.exit_at = Some(at);
            self.post(after, Event::Exited(worker, cause));
        }
    }

    fn settle(&mut self, id: JobId, interrupted: bool) {
        let job = self.job(id);
        let first = !job.reported;
        let free = job.sent_to.is_none();
        job.reported = true;
        job.interrupted = interrupted;
        self.check(first, "reported twice");
        self.check(free, "reported while a worker has it");
        let after = self.rng.below(50);
        let recorded = self.rng.pick(&[
            Recorded::Fine,
            Recorded::Fine,
            Recorded::Fine,
            Recorded::Failed,
            Recorded::DiskFull,
        ]);
        self.post(after, Event::Recorded(id, recorded));
        if self.rng.one_in(10) {
            self.post(after + 1, Event::Recorded(id, recorded));
        }
    }

    fn ended(self) -> Ended {
        let finish = self.finish.expect("the loop ends with it");
        for job in self.jobs.values() {
            self.check(job.reported, "a job was lost");
            self.check(
                job.recorded || self.recorder_lost,
                "finished before a record was durable",
            );
        }
        let gone = self.processes.values().all(|p| p.exited || p.written_off);
        self.check(gone, "finished before a process was gone");
        if finish == Finish::Complete {
            let whole = self.to_find == 0 && self.jobs.values().all(|job| !job.interrupted);
            self.check(whole, "called complete, and is not");
        }
        if finish == Finish::Stopped(StopReason::Asked) {
            self.check(self.stop_told, "nobody asked for an end");
        }
        Ended {
            finish,
            jobs: self.jobs.len(),
            tried_again: self.jobs.values().filter(|job| job.begun > 1).count(),
            interrupted: self.jobs.values().filter(|job| job.interrupted).count(),
            written_off: self.processes.values().filter(|p| p.written_off).count(),
            big: self
                .processes
                .values()
                .filter(|p| p.cap == Cap::Big)
                .count(),
        }
    }
}

/// What a schedule went through, so that a generator that has become tame is noticed.
struct Ended {
    finish: Finish,
    jobs: usize,
    tried_again: usize,
    interrupted: usize,
    written_off: usize,
    big: usize,
}

#[derive(Default)]
struct Sum {
    finishes: BTreeMap<String, u64>,
    jobs: usize,
    tried_again: usize,
    interrupted: usize,
    written_off: usize,
    big: usize,
}

impl Sum {
    fn add(&mut self, ended: &Ended) {
        *self
            .finishes
            .entry(format!("{:?}", ended.finish))
            .or_default() += 1;
        self.jobs += ended.jobs;
        self.tried_again += ended.tried_again;
        self.interrupted += ended.interrupted;
        self.written_off += ended.written_off;
        self.big += ended.big;
    }
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

fn random_seed() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(0_u8)
}

fn campaign(seeds: impl Iterator<Item = u64>) -> Sum {
    let mut sum = Sum::default();
    for seed in seeds {
        sum.add(&World::new(seed, false).run());
    }
    eprintln!(
        "{} jobs, {} tried again, {} interrupted, {} processes written off, {} big, {:?}",
        sum.jobs, sum.tried_again, sum.interrupted, sum.written_off, sum.big, sum.finishes
    );
    sum
}

#[test]
fn schedules_of_fixed_seeds_keep_the_rules_and_see_every_ending() {
    if let Some(seed) = number("PRESSROOM_SCHEDULE_SEED") {
        World::new(seed, true).run();
        return;
    }
    let sum = campaign(0..FIXED);
    let rare = [sum.tried_again, sum.interrupted, sum.written_off, sum.big];
    assert!(
        rare.iter().all(|n| *n > 1000),
        "the generator has become tame: {rare:?}"
    );
    for ending in [
        Finish::Complete,
        Finish::Stopped(StopReason::RunFor),
        Finish::Stopped(StopReason::MaxFail),
        Finish::Stopped(StopReason::Asked),
        Finish::Stopped(StopReason::DiskFull),
        Finish::Stopped(StopReason::CannotGoOn(CannotGoOn::BadStarts)),
        Finish::Stopped(StopReason::CannotGoOn(CannotGoOn::IdleDeaths)),
        Finish::Stopped(StopReason::CannotGoOn(CannotGoOn::NoSeatLeft)),
        Finish::Stopped(StopReason::CannotGoOn(CannotGoOn::RecorderLost)),
    ] {
        let seen = sum.finishes.contains_key(&format!("{ending:?}"));
        assert!(seen, "never seen: {ending:?}");
    }
}

#[test]
fn schedules_of_new_seeds_keep_the_rules() {
    if number("PRESSROOM_SCHEDULE_SEED").is_some() {
        return;
    }
    let base = random_seed();
    let count = number("PRESSROOM_SCHEDULES").unwrap_or(RANDOM);
    eprintln!("{count} schedules from seed {base}");
    campaign((0..count).map(|n| base.wrapping_add(n)));
}
