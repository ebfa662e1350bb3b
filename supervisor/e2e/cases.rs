//! A case: a folder with inputs, a run of the executable over it, and what every run must leave behind.

use crate::{fake, processes};
use rustix::process::Signal;
use serde_json::Value;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

/// Longest any run of these tests may take, on a machine that has much else to do.
const PATIENCE: Duration = Duration::from_secs(120);

/// A folder with `in`, and after a run `out`.
pub(crate) struct Case {
    folder: tempfile::TempDir,
    script: Option<String>,
}

/// The executable under test: the one just built, or that which `E2E_EXECUTABLE` names.
pub(crate) fn executable() -> PathBuf {
    let named = std::env::var_os("E2E_EXECUTABLE");
    named
        .unwrap_or_else(|| env!("CARGO_BIN_EXE_pressroom").into())
        .into()
}

/// What a run said.
pub(crate) struct Ran {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// The lines of `--json`.
    pub(crate) json: Vec<Value>,
}

impl Case {
    /// An empty case for real workers.
    pub(crate) fn new() -> Self {
        let folder = tempfile::Builder::new()
            .prefix("pressroom-e2e-")
            .tempdir()
            .expect("a temporary folder");
        fs::create_dir(folder.path().join("in")).expect("an input folder");
        fs::create_dir(folder.path().join("notes")).expect("a folder for notes");
        Self {
            folder,
            script: None,
        }
    }

    /// An empty case for misbehaving workers, which begin as `script` says.
    pub(crate) fn fake(script: &str) -> Self {
        let mut case = Self::new();
        let notes = case.path("notes");
        case.script = Some(format!("{script} {}", notes.display()));
        case
    }

    pub(crate) fn folder(&self) -> PathBuf {
        self.folder.path().canonicalize().expect("it exists")
    }

    pub(crate) fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.folder().join(name)
    }

    /// Puts a file among the inputs.
    pub(crate) fn input(&self, name: impl AsRef<OsStr>, content: &[u8]) -> &Self {
        let path = self.path("in").join(Path::new(name.as_ref()));
        fs::create_dir_all(path.parent().expect("below in")).expect("a folder");
        fs::write(path, content).expect("an input");
        self
    }

    /// Puts files among the inputs that only a misbehaving worker can make anything of.
    pub(crate) fn inputs(&self, names: &[&str]) -> &Self {
        for name in names {
            self.input(
                name,
                format!("the content of {name}, twice as long as needed").as_bytes(),
            );
        }
        self
    }

    /// The command for the usual run: `in` to `out`.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.bare();
        command
            .args([
                "in",
                "-o",
                "out",
                "-q",
                "75",
                "--json",
                "json",
                "--no-config",
            ])
            .args(arguments);
        command
    }

    /// The executable in the case's folder, without arguments.
    pub(crate) fn bare(&self) -> Command {
        let mut command = Command::new(executable());
        command
            .current_dir(self.folder())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if let Some(script) = &self.script {
            command
                .env("PRESSROOM_TEST_WORKER", fake::executable())
                .env(fake::SCRIPT, script);
        }
        command
    }

    /// Runs to the end.
    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        self.finish(self.start(arguments))
    }

    /// Starts and does not wait.
    pub(crate) fn start(&self, arguments: &[&str]) -> Child {
        self.command(arguments)
            .spawn()
            .expect("the executable starts")
    }

    /// Waits for the end, but not for ever.
    pub(crate) fn finish(&self, mut child: Child) -> Ran {
        let stdout = child.stdout.take().map(read_all);
        let stderr = child.stderr.take().map(read_all);
        let pid = child.id();
        let mut status = None;
        let ended = processes::wait_until(PATIENCE, || {
            status = child.try_wait().expect("our own child");
            status.is_some()
        });
        if !ended {
            processes::send(pid, Signal::KILL);
        }
        let text = |reader: Option<std::thread::JoinHandle<String>>| {
            reader.map_or(String::new(), |reader| {
                reader.join().expect("it only reads")
            })
        };
        let (stdout, stderr) = (text(stdout), text(stderr));
        assert!(ended, "the run did not end\n{stdout}\n{stderr}");
        Ran {
            status: status.expect("it ended"),
            json: self.json(),
            stdout,
            stderr,
        }
    }

    fn json(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.path("json")).unwrap_or_default();
        text.lines()
            .map(|line| serde_json::from_str(line).expect("each line is an object"))
            .collect()
    }

    /// What every run must leave behind: one record per input, no process, no half-done file.
    pub(crate) fn check(&self, ran: &Ran, inputs: usize) -> Records {
        let records = ran.records();
        assert_eq!(
            records.files.len(),
            inputs,
            "inputs with a record\n{}",
            ran.text()
        );
        let run = &records.run;
        let sum: u64 = ["saved", "kept", "skipped", "failed", "interrupted"]
            .iter()
            .map(|name| run[name].as_u64().expect("a number"))
            .sum();
        assert_eq!(run["discovered"].as_u64(), Some(sum), "{run}");
        assert_eq!(sum, inputs as u64, "{run}");
        self.check_leftovers();
        records
    }

    /// No process and no staging.
    pub(crate) fn check_leftovers(&self) {
        let alone = processes::wait_until(Duration::from_secs(2), || {
            processes::inside(&self.folder()).is_empty()
        });
        assert!(
            alone,
            "processes are left: {:?}",
            processes::inside(&self.folder())
        );
        let stage = self.path("out/.pressroom/stage");
        let left: Vec<_> = fs::read_dir(&stage)
            .map(|entries| entries.collect())
            .unwrap_or_default();
        assert!(left.is_empty(), "staging is left: {left:?}");
        let odd: Vec<_> = self
            .tree("out")
            .into_keys()
            .filter(|path| path.to_string_lossy().contains(".part"))
            .collect();
        assert!(odd.is_empty(), "half-done files are left: {odd:?}");
    }

    /// All files below a folder with their content, pressroom's own aside.
    pub(crate) fn tree(&self, folder: &str) -> BTreeMap<PathBuf, Vec<u8>> {
        let root = self.path(folder);
        let mut files = BTreeMap::new();
        let mut folders = vec![root.clone()];
        while let Some(folder) = folders.pop() {
            let Ok(entries) = fs::read_dir(&folder) else {
                continue;
            };
            for entry in entries {
                let path = entry.expect("readable").path();
                if path.file_name() == Some(OsStr::new(".pressroom")) {
                    continue;
                }
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let below = path
                        .strip_prefix(&root)
                        .expect("below the root")
                        .to_path_buf();
                    files.insert(below, fs::read(&path).expect("readable"));
                }
            }
        }
        files
    }
}

/// The lines of a run: by name of the input, and the run's own.
pub(crate) struct Records {
    pub(crate) files: BTreeMap<OsString, Value>,
    pub(crate) run: Value,
}

impl Records {
    /// What became of the input of this name.
    pub(crate) fn outcome(&self, name: &str) -> &str {
        self.field(name, "outcome").as_str().expect("always there")
    }

    /// Why.
    pub(crate) fn reason(&self, name: &str) -> &str {
        self.field(name, "reason").as_str().unwrap_or_default()
    }

    /// Workers that died on it.
    pub(crate) fn deaths(&self, name: &str) -> u64 {
        self.field(name, "deaths").as_u64().expect("always there")
    }

    pub(crate) fn field(&self, name: &str, field: &str) -> &Value {
        let record = self.files.get(OsStr::new(name));
        &record.unwrap_or_else(|| panic!("no record of {name}"))[field]
    }
}

impl Ran {
    /// Everything it said, for messages.
    pub(crate) fn text(&self) -> String {
        format!("{:?}\n{}\n{}", self.status, self.stdout, self.stderr)
    }

    pub(crate) fn code(&self) -> Option<i32> {
        self.status.code()
    }

    pub(crate) fn signal(&self) -> Option<i32> {
        self.status.signal()
    }

    #[track_caller]
    pub(crate) fn expect_code(&self, code: i32) -> &Self {
        assert_eq!(self.code(), Some(code), "{}", self.text());
        self
    }

    /// Its records; each input must have exactly one.
    pub(crate) fn records(&self) -> Records {
        let mut files = BTreeMap::new();
        let mut run = Value::Null;
        for object in &self.json {
            if object["type"] == "run" {
                run = object.clone();
                continue;
            }
            let name = name_of(object);
            let double = files.insert(name.clone(), object.clone());
            assert!(double.is_none(), "two records of {}", name.display());
        }
        assert!(!run.is_null(), "no record of the run\n{}", self.text());
        Records { files, run }
    }
}

/// Name of the input in a record, exact.
fn name_of(object: &Value) -> OsString {
    let bytes = match object["source_base64"].as_str() {
        Some(text) => base64(text),
        None => object["source"]
            .as_str()
            .expect("a source")
            .as_bytes()
            .to_vec(),
    };
    let path = Path::new(OsStr::from_bytes(&bytes));
    path.file_name().unwrap_or_default().to_os_string()
}

pub(crate) fn base64(text: &str) -> Vec<u8> {
    let value = |c: u8| match c {
        b'A'..=b'Z' => c - b'A',
        b'a'..=b'z' => c - b'a' + 26,
        b'0'..=b'9' => c - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let digits: Vec<u8> = text.bytes().filter(|c| *c != b'=').map(value).collect();
    digits
        .chunks(4)
        .flat_map(|four| {
            let bits = four
                .iter()
                .fold(0_u32, |bits, digit| bits << 6 | u32::from(*digit));
            let bits = bits << (6 * (4 - four.len()));
            bits.to_be_bytes()[1..four.len()].to_vec()
        })
        .collect()
}

fn read_all(mut from: impl std::io::Read + Send + 'static) -> std::thread::JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = from.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}
