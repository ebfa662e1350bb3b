//! The one asynchronous loop: wait for something, tell the pool, carry out what it asks for. Decides nothing.
//!
//! Everything that can happen arrives here: messages of workers, images found, rows recorded, signals, time. There is no `?`
//! in the loop: an error of one worker is an event, and only the pool says when a run is over.

mod audience;
mod hands;
mod pressure;
mod quarantine;
mod sift;
mod watch;

pub(crate) use audience::Audience;
pub(crate) use hands::{Caps, Hands, WorkerSetup};
pub(crate) use pressure::Pressure;
pub(crate) use sift::{Sifted, Sifter};

use crate::link::Heard;
use crate::passed::PassedOver;
use crate::pool::{Event, Finish, Machine, Moment, Stop};
use crate::recorder::Receipt;
use crate::signal::{Asked, Signals};
use crate::sys;
use pressure::Change;
use std::time::{Duration, Instant};
use tokio::sync::mpsc::{Receiver, UnboundedReceiver};

/// Messages handled in a row before deadlines are looked at even so.
const BURST: u32 = 64;

/// Records that may be on their way before no more images are taken from the source.
const UNRECORDED: u64 = 4096;

/// How often memory is looked at.
const TICK: Duration = Duration::from_millis(50);

/// Everything that can happen.
enum Happening {
    Heard(Heard),
    Sifted(Option<Sifted>),
    Recorded(Option<Receipt>),
    Signal(Asked),
    Watch,
    Deadline,
}

/// Where things happen.
pub(crate) struct Sources {
    /// Workers.
    pub(crate) heard: Receiver<Heard>,
    /// The source of images, until it has ended or nothing more is wanted.
    pub(crate) sifted: Option<Receiver<Sifted>>,
    /// The recorder.
    pub(crate) recorded: UnboundedReceiver<Receipt>,
    /// The system.
    pub(crate) signals: Signals,
}

/// What is known when the loop is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Driven {
    /// How it ended.
    pub(crate) finish: Finish,
    /// The first signal that asked for the end.
    pub(crate) signal: Option<i32>,
    /// Inputs found.
    pub(crate) discovered: u64,
    /// Files passed over by the source.
    pub(crate) ignored: PassedOver,
    /// Processes that could not be killed.
    pub(crate) unkillable: Vec<u32>,
    /// What the last worker that could not start said.
    pub(crate) start_trouble: Option<String>,
    /// The source broke off without saying that it was through; a defect of this program.
    pub(crate) source_broke: bool,
}

/// The loop and what it holds.
pub(crate) struct Driver<A> {
    machine: Machine,
    hands: Hands,
    sources: Sources,
    audience: A,
    started: Instant,
    signal: Option<i32>,
    times_asked: u32,
    ignored: PassedOver,
    source_broke: bool,
    burst: u32,
    watch: tokio::time::Interval,
    pressure: Pressure,
}

impl<A: Audience> Driver<A> {
    /// `started` is when the run began; all its times count from there.
    pub(crate) fn new(
        machine: Machine,
        hands: Hands,
        sources: Sources,
        audience: A,
        pressure: Pressure,
        started: Instant,
    ) -> Self {
        let mut watch = tokio::time::interval(TICK);
        watch.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        Self {
            machine,
            hands,
            sources,
            audience,
            started,
            signal: None,
            times_asked: 0,
            ignored: PassedOver::default(),
            source_broke: false,
            burst: 0,
            watch,
            pressure,
        }
    }

    /// Runs until the pool says that the run is over and every record is safe.
    pub(crate) async fn drive(mut self) -> (Driven, Hands, A) {
        let finish = loop {
            let happening = self.wait().await;
            self.tell(happening);
            if self.is_time() {
                self.handle(Event::Tick);
            }
            if let Some(finish) = self.obey() {
                break finish;
            }
        };
        self.await_records().await;
        let driven = Driven {
            finish,
            signal: self.signal,
            discovered: self.hands.discovered(),
            ignored: self.ignored,
            unkillable: self.hands.unkillable(),
            start_trouble: self.hands.start_trouble(),
            source_broke: self.source_broke,
        };
        (driven, self.hands, self.audience)
    }

    /// Waits for the next thing. What workers say comes first, so that an answer that is there in time is heard in time.
    async fn wait(&mut self) -> Happening {
        let deadline = self.machine.next_deadline().map(|at| {
            let at = self.started + at.elapsed();
            tokio::time::Instant::from_std(at)
        });
        let wanted = self.machine.wants_more() && self.hands.unrecorded() < UNRECORDED;
        let sources = &mut self.sources;
        tokio::select! {
            biased;
            asked = sources.signals.next() => Happening::Signal(asked),
            // Before what can come without end, such as images that were done before.
            _ = self.watch.tick() => Happening::Watch,
            Some(heard) = sources.heard.recv() => Happening::Heard(heard),
            recorded = sources.recorded.recv() => Happening::Recorded(recorded),
            sifted = next(&mut sources.sifted), if wanted => Happening::Sifted(sifted),
            () = sleep_until(deadline) => Happening::Deadline,
        }
    }

    fn tell(&mut self, happening: Happening) {
        match happening {
            Happening::Heard(heard) => {
                let now = self.now();
                if let Some(event) = self.hands.hear(now, heard, &mut self.audience) {
                    self.handle(event);
                }
            }
            Happening::Sifted(Some(sifted)) => self.take_in(sifted),
            Happening::Sifted(None) => {
                self.source_broke = true;
                self.source_ended();
            }
            Happening::Recorded(Some(recorded)) => self.recorded(&recorded),
            Happening::Recorded(None) => self.recorder_lost(),
            Happening::Signal(asked) => self.asked(asked),
            Happening::Watch => self.look(),
            Happening::Deadline => {}
        }
    }

    fn handle(&mut self, event: Event) {
        self.machine.handle(self.now(), event);
    }

    /// Whether deadlines should be looked at now: when nothing that came in time waits to be heard, or often enough.
    fn is_time(&mut self) -> bool {
        self.burst += 1;
        let due = self
            .machine
            .next_deadline()
            .is_some_and(|at| at <= self.now());
        let heard_all = self.sources.heard.is_empty();
        let time = due && (heard_all || self.burst >= BURST);
        if time {
            self.burst = 0;
        }
        time
    }

    /// Carries out everything that is asked for; what goes wrong at once is told and may ask for more.
    fn obey(&mut self) -> Option<Finish> {
        let mut finish = None;
        while let Some(command) = self.machine.poll() {
            let now = self.now();
            match self.hands.obey(now, command) {
                hands::Then::Nothing => {}
                hands::Then::SpawnFailed(worker, why) => {
                    self.audience.no_process(worker, &why);
                    self.machine.handle(now, Event::SpawnFailed(worker));
                }
                hands::Then::Tell(event) => self.machine.handle(now, event),
                hands::Then::StopSource => self.sources.sifted = None,
                hands::Then::Finish(how) => finish = Some(how),
            }
        }
        self.hands.put_down();
        self.tell_left();
        finish
    }

    fn take_in(&mut self, sifted: Sifted) {
        match sifted {
            Sifted::Todo(task) => {
                let job = task.id;
                self.hands.add(task);
                self.audience.found(self.hands.discovered());
                self.handle(Event::Found(job));
            }
            Sifted::Aside(record) => {
                self.hands.record_aside(*record);
                self.audience.found(self.hands.discovered());
            }
            Sifted::Note(text) => self.audience.note(&text),
            Sifted::PassedOver(path, why) => {
                self.ignored.add(why);
                self.audience.passed_over(&path, why);
            }
            Sifted::Ended => {
                self.audience.all_found(self.hands.discovered());
                self.source_ended();
            }
        }
    }

    fn source_ended(&mut self) {
        if self.sources.sifted.take().is_some() {
            self.handle(Event::WalkDone);
        }
    }

    fn recorded(&mut self, recorded: &Receipt) {
        let event = self.hands.recorded(recorded);
        self.audience.recorded(&recorded.record);
        self.handle(event);
    }

    fn recorder_lost(&mut self) {
        self.sources.recorded.close();
        self.hands.recorder_is_lost();
        self.handle(Event::RecorderLost);
    }

    /// Tells of inputs that nobody records any more, and of what was done on the side.
    fn tell_left(&mut self) {
        for note in self.hands.take_notes() {
            self.audience.note(&note);
        }
        for record in self.hands.take_left() {
            self.audience.recorded(&record);
        }
    }

    /// The first request to end drains, the second kills; who asks a third time wants out at any price, even if the disk
    /// does not answer any more. Workers leave by themselves then.
    fn asked(&mut self, asked: Asked) {
        match asked {
            Asked::End(signal) => {
                self.signal.get_or_insert(signal);
                self.times_asked += 1;
                self.audience.stopping(self.times_asked);
                match self.times_asked {
                    1 => self.handle(Event::Stop(Stop::Drain)),
                    2 => self.handle(Event::Stop(Stop::Kill)),
                    _ => sys::die_by(signal),
                }
            }
            Asked::Pause => self.pause(),
        }
    }

    /// Stands still together with all workers until SIGCONT comes.
    fn pause(&mut self) {
        self.hands.signal_all(sys::Signal::Stop);
        self.handle(Event::Paused);
        sys::stop_self();
        self.hands.signal_all(sys::Signal::Continue);
        self.handle(Event::Resumed);
    }

    fn look(&mut self) {
        self.audience.tick();
        for event in self.hands.over_memory() {
            self.handle(event);
        }
        match self.pressure.look(Instant::now()) {
            Some(Change::Low(free)) => {
                self.audience.memory(Some(free));
                self.handle(Event::MemoryLow);
            }
            Some(Change::Enough(_)) => {
                self.audience.memory(None);
                self.handle(Event::MemoryEnough);
            }
            None => {}
        }
    }

    /// Records that concern no job of the pool may still be on their way.
    async fn await_records(&mut self) {
        while self.hands.unrecorded() > 0 {
            self.hands.flush();
            let Some(recorded) = self.sources.recorded.recv().await else {
                self.hands.recorder_is_lost();
                return self.tell_left();
            };
            self.hands.recorded(&recorded);
            self.audience.recorded(&recorded.record);
        }
    }

    fn now(&self) -> Moment {
        Moment::after(self.started.elapsed())
    }
}

async fn next(sifted: &mut Option<Receiver<Sifted>>) -> Option<Sifted> {
    match sifted {
        Some(receiver) => receiver.recv().await,
        None => std::future::pending().await,
    }
}

async fn sleep_until(deadline: Option<tokio::time::Instant>) {
    match deadline {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}
