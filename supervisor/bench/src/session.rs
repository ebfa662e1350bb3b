//! One bench from a command line to an exit: prepare, make the experiments in turn, report. Acts through `lab`.

use crate::advice::{Grounds, advise};
use crate::args::Args;
use crate::book::{Book, Experiment, Sample};
use crate::experiments::{Bench, boundary, busy, cap, loads, scaling, threads};
use crate::lab::{Lab, Measured, Variant};
use crate::nursery::{Nursery, RunError, scratch};
use crate::pictures::{self, NoPictures};
use crate::place::{self, Place};
use crate::report::{json, page, text};
use crate::schedule::share;
use crate::{drawn, out, settings};
use pressroom_shared::BUILD_ID;
use pressroom_supervisor::cli::{self, Command, Config};
use pressroom_supervisor::exit::Exit;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Parts of the budget: scaling, threads, boundary, loads, busy, cap.
const WEIGHTS: [f64; 6] = [26.0, 13.0, 9.0, 30.0, 17.0, 5.0];

/// Share of the budget in which every picture is done once, to know what each takes.
const PILOT: f64 = 0.08;

/// Why there is no result.
#[derive(Debug, thiserror::Error)]
enum Trouble {
    /// The request makes no sense.
    #[error("{0}")]
    Usage(String),
    /// Nothing can be measured.
    #[error("{0}")]
    CannotRun(String),
    /// The user wants out.
    #[error("interrupted")]
    Interrupted(i32),
}

impl Trouble {
    fn exit(&self) -> Exit {
        match self {
            Self::Usage(_) => Exit::Usage,
            Self::CannotRun(_) => Exit::CannotRun,
            Self::Interrupted(signal) => Exit::Signal(*signal),
        }
    }
}

impl From<NoPictures> for Trouble {
    fn from(error: NoPictures) -> Self {
        Self::Usage(error.to_string())
    }
}

impl From<RunError> for Trouble {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Interrupted(signal) => Self::Interrupted(signal),
            other @ (RunError::Process(_)
            | RunError::TooLong(_)
            | RunError::Cannot(_)
            | RunError::Died(_)) => Self::CannotRun(other.to_string()),
        }
    }
}

/// Holds the whole session.
pub(crate) fn hold(args: &Args) -> Exit {
    match measure(args) {
        Ok(book) => tell(args, &book),
        Err(trouble) => {
            out::complain(&trouble.to_string());
            trouble.exit()
        }
    }
}

fn measure(args: &Args) -> Result<Book, Trouble> {
    check_places(args)?;
    let config = config(&args.flags)?;
    let found = pictures::find(&args.paths);
    let nursery = Nursery::open();
    let folder = scratch().map_err(cannot("cannot make a folder for temporary files"))?;
    let mut lab = Lab::new(nursery, folder.path(), args.budget, args.quiet);
    lab.begin("preparing");
    let files = if args.paths.is_empty() {
        lab.show("drawing pictures");
        drawn::draw(folder.path()).map_err(cannot("cannot draw pictures"))?
    } else {
        found?
    };
    let place = place::look(Path::new("/"), config.limits.memory);
    let (bench, sample, needed) = prepare(&mut lab, args, &config, &place, &files)?;
    let (experiments, advice) = experiment(&mut lab, &bench, &place, needed)?;
    lab.show("");
    Ok(Book {
        schema: 1,
        build: BUILD_ID.to_owned(),
        machine: place.words,
        sample,
        budget_s: args.budget.as_secs_f64(),
        spent_s: lab.spent().as_secs_f64(),
        experiments,
        advice,
    })
}

fn cannot<E: std::fmt::Display>(what: &'static str) -> impl FnOnce(E) -> Trouble {
    move |error| Trouble::CannotRun(format!("{what}: {error}"))
}

/// What cannot be written is said before a minute has passed.
fn check_places(args: &Args) -> Result<(), Trouble> {
    let reports = [
        args.html.as_ref(),
        args.json.as_ref().filter(|path| !is_stdout(path)),
    ];
    let all = reports.into_iter().flatten().chain(&args.write_config);
    for path in all {
        let parent = path
            .parent()
            .filter(|parent| !parent.as_os_str().is_empty());
        if !parent.is_none_or(Path::is_dir) || path.is_dir() {
            let text = format!(
                "cannot write {}: name a file in a folder that exists",
                path.display()
            );
            return Err(Trouble::Usage(text));
        }
    }
    if let Some(path) = args.write_config.as_ref().filter(|path| path.exists()) {
        let text = format!(
            "{} exists and is not replaced: name another file or remove it",
            path.display()
        );
        return Err(Trouble::Usage(text));
    }
    Ok(())
}

fn is_stdout(path: &Path) -> bool {
    path == Path::new("-")
}

/// The settings that a run with these flags would have, here and now.
fn config(flags: &[OsString]) -> Result<Config, Trouble> {
    let fixed = [".", "-o", "out"].map(OsString::from);
    let line = std::iter::once(OsString::from("run"))
        .chain(flags.iter().cloned())
        .chain(fixed);
    let config = match cli::parse(line) {
        Ok(Command::Run(config)) => *config,
        Ok(_) => {
            return Err(Trouble::Usage(
                "only the flags of a run may stand behind --".to_owned(),
            ));
        }
        Err(error) => return Err(Trouble::Usage(format!("behind --: {error}"))),
    };
    match pressroom_worker::options(&config.settings) {
        Ok(_) => Ok(config),
        Err(what) => Err(Trouble::Usage(format!(
            "{what} is not in this version of pressroom"
        ))),
    }
}

/// Does every picture of the sample once: what each takes, and what the biggest needs.
fn prepare(
    lab: &mut Lab,
    args: &Args,
    config: &Config,
    place: &Place,
    found: &[PathBuf],
) -> Result<(Bench, Sample, u64), Trouble> {
    let mut bench = Bench {
        files: pictures::spread(found, pictures::MOST),
        costs_us: Vec::new(),
        settings: config.settings.clone(),
        limits: config.limits.clone(),
        usable: place.words.usable,
        cpus: place.facts.cores.cpus,
        cores: place.cores.clone(),
    };
    let tried = affordable(lab, &bench, args.budget.mul_f64(PILOT))?;
    bench.files = tried;
    let request = bench.workers(&bench.files, 1);
    let answer = lab.once(&Variant::new("every picture once", request))?;
    let tried = bench.files.len();
    let mut fine: Vec<_> = answer.jobs.iter().filter(|job| job.fine).collect();
    fine.sort_by_key(|job| job.index);
    bench.costs_us = fine.iter().map(|job| job.wall_us).collect();
    bench.files = fine
        .iter()
        .map(|job| bench.files[job.index].clone())
        .collect();
    if bench.files.is_empty() {
        let why = answer.failure.unwrap_or_default();
        return Err(Trouble::CannotRun(format!(
            "none of the pictures can be done; the first: {why}"
        )));
    }
    let sizes = bench
        .files
        .iter()
        .filter_map(|file| std::fs::metadata(file).ok());
    let sample = Sample {
        from: origin(&args.paths),
        found: found.len(),
        used: bench.files.len(),
        failed: tried - bench.files.len(),
        bytes: sizes.map(|meta| meta.len()).sum(),
        settings: words(&args.flags),
    };
    Ok((bench, sample, answer.memory_of_one))
}

/// As many pictures as can be done once in `time`, going by what one of middling size takes.
fn affordable(lab: &mut Lab, bench: &Bench, time: Duration) -> Result<Vec<PathBuf>, Trouble> {
    lab.show("one picture");
    let bytes = |file: &PathBuf| std::fs::metadata(file).map_or(0, |meta| meta.len());
    let mut by_size = bench.files.clone();
    by_size.sort_by_key(bytes);
    let middle = by_size[by_size.len() / 2].clone();
    let answer = lab.once(&Variant::new(
        "one picture",
        bench.workers(std::slice::from_ref(&middle), 1),
    ))?;
    let rate = answer.wall_us as f64 / bytes(&middle).max(1) as f64;
    let all = rate * bench.files.iter().map(bytes).sum::<u64>() as f64;
    let fit = time.as_micros() as f64 / all.max(1.0) * bench.files.len() as f64;
    Ok(pictures::spread(&bench.files, (fit as usize).max(1)))
}

fn origin(paths: &[PathBuf]) -> String {
    if paths.is_empty() {
        return "the set that the bench draws".to_owned();
    }
    let names: Vec<_> = paths
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    names.join(", ")
}

fn words(flags: &[OsString]) -> String {
    if flags.is_empty() {
        return "settings of a run without flags".to_owned();
    }
    let flags: Vec<_> = flags.iter().map(|flag| flag.to_string_lossy()).collect();
    format!("pressroom run {}", flags.join(" "))
}

/// The experiments in turn, each with its share of the time that is left.
fn experiment(
    lab: &mut Lab,
    bench: &Bench,
    place: &Place,
    needed: u64,
) -> Result<(Vec<Experiment>, crate::book::Advice), RunError> {
    let own = |lab: &Lab, number: usize| share(lab.left(), &WEIGHTS[number..]);
    lab.begin("scaling");
    let scaling = scaling::run(lab, bench, own(lab, 0))?;
    lab.begin("threads");
    let threads = threads::run(lab, bench, own(lab, 1))?;
    lab.begin("boundary");
    let free = place.facts.memory.map(|memory| memory.available);
    let boundary = boundary::run(lab, own(lab, 2), free)?;
    lab.begin("loads");
    let loads = loads::run(lab, bench, own(lab, 3))?;
    lab.begin("busy machine");
    let busy = busy::run(lab, bench, own(lab, 4), &idle_hearts(&scaling))?;
    lab.begin("memory cap");
    let cap = cap::run(lab, bench, needed, own(lab, 5))?;
    let advice = advise(&Grounds {
        crews: &scaling.crews,
        scaling: &scaling.collected,
        usable: bench.usable,
        enough: cap.enough,
        needed: Some(needed).filter(|needed| *needed > 0),
    });
    let all = vec![
        scaling.experiment,
        threads,
        boundary,
        loads,
        busy,
        cap.experiment,
    ];
    Ok((all, advice))
}

/// How late the loop was beside nothing else, by worker count.
fn idle_hearts(scaling: &scaling::Found) -> Vec<(u16, Vec<Measured>)> {
    let plain = |crew: &scaling::Crew| crew.on == scaling::On::AllCpus;
    let runs = scaling.crews.iter().zip(&scaling.collected.runs);
    runs.filter(|(crew, runs)| plain(crew) && !runs.is_empty())
        .map(|(crew, runs)| (crew.workers, runs.clone()))
        .collect()
}

/// Says and writes what was asked for.
fn tell(args: &Args, book: &Book) -> Exit {
    let mut words = text::advice(book);
    if !args.quiet {
        words = format!("{}\n{words}", text::tables(book));
    }
    let on_stdout = args.json.as_deref().is_some_and(is_stdout);
    if on_stdout {
        out::note(&words)
    } else {
        out::say(&words)
    }
    match write_all(args, book, on_stdout) {
        Ok(()) => Exit::Success,
        Err(text) => {
            out::complain(&text);
            Exit::CannotRun
        }
    }
}

fn write_all(args: &Args, book: &Book, on_stdout: bool) -> Result<(), String> {
    let failed =
        |path: &Path, error: std::io::Error| format!("cannot write {}: {error}", path.display());
    if let Some(path) = &args.json {
        let object = json::object(book).map_err(|error| error.to_string())?;
        if on_stdout {
            out::say(&object);
        } else {
            out::write(path, &object).map_err(|error| failed(path, error))?;
        }
    }
    if let Some(path) = &args.html {
        out::write(path, &page::page(book)).map_err(|error| failed(path, error))?;
    }
    if let Some(path) = &args.write_config {
        settings::write(path, &settings::text(book)).map_err(|error| failed(path, error))?;
    }
    Ok(())
}
