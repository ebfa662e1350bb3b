//! Each forbidden deed is tried by a confined child: this test binary, started again to run [`deed`] alone.
//!
//! Where the kernel lacks the feature a test says SKIPPED on standard error and passes.

use super::*;
use pressroom_shared::WirePath;
use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::process::{Pid, Resource, getppid, getrlimit, kill_process, prlimit, setrlimit};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

const DEED: &str = "PRESSROOM_TEST_DEED";
const FREE: &str = "PRESSROOM_TEST_FREE";
const FOLDER: &str = "PRESSROOM_TEST_FOLDER";

/// The folders a child finds: what it may read, where it may write, and what is none of its business.
struct World {
    root: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        for folder in ["read", "staging", "secret"] {
            std::fs::create_dir(root.path().join(folder)).unwrap();
        }
        for file in ["read/input", "secret/file"] {
            std::fs::write(root.path().join(file), b"content").unwrap();
        }
        let link = root.path().join("read/link");
        std::os::unix::fs::symlink(root.path().join("secret/file"), link).unwrap();
        Self { root }
    }

    /// A child that tries a deed.
    fn child(&self, deed: &str) -> Command {
        let mut child = Command::new("/proc/self/exe");
        child.args([
            "--exact",
            "confine::tests::deed",
            "--nocapture",
            "--ignored",
        ]);
        child.env(DEED, deed).env(FOLDER, self.root.path());
        child
    }

    /// What a confined child says became of a deed: `done`, `denied`, or another error.
    fn try_deed(&self, deed: &str) -> String {
        said(&mut self.child(deed))
    }
}

fn said(child: &mut Command) -> String {
    let output = child.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let said = text.lines().find_map(|line| line.strip_prefix("DEED="));
    said.map_or_else(|| format!("nothing, {}", output.status), str::to_owned)
}

/// What this kernel offers, as a child finds it.
fn offered() -> Enforced {
    let said = World::new().try_deed("report");
    let mut numbers = said.split(' ').map(|word| word.parse::<u8>().unwrap());
    let mut next = || numbers.next().unwrap();
    Enforced {
        rlimit_data: None,
        landlock_abi: next(),
        landlock_full: next() == 1,
        seccomp: next() == 1,
    }
}

/// Whether to go on: `has` must be true of this kernel.
fn able(what: &str, has: impl Fn(&Enforced) -> bool) -> bool {
    let able = has(&offered());
    if !able {
        eprintln!("SKIPPED: this kernel has no {what}");
    }
    able
}

fn with_landlock(abi: u8) -> bool {
    able(&format!("Landlock ABI {abi}"), |found| {
        found.landlock_abi >= abi
    })
}

fn with_seccomp() -> bool {
    able("seccomp", |found| found.seccomp)
}

/// Not a test: the child's part. Confines itself as a worker does, tries one deed and says what became of it.
#[test]
#[ignore = "run by the other tests, in a process of its own"]
fn deed() {
    let (Ok(deed), Ok(folder)) = (std::env::var(DEED), std::env::var(FOLDER)) else {
        return;
    };
    let folder = PathBuf::from(folder);
    let wanted = Confinement {
        mode: if std::env::var_os(FREE).is_some() {
            SandboxMode::Off
        } else {
            SandboxMode::Auto
        },
        read: vec![
            WirePath::from(folder.join("read")),
            WirePath::from(folder.join("gone")),
        ],
        staging: WirePath::from(folder.join("staging")),
    };
    let early = std::fs::File::open(folder.join("secret/file")).unwrap();
    let mut enforced = Enforced::default();
    confine(&wanted, &mut enforced).unwrap();
    let said = match perform(&deed, &folder, &early, &enforced) {
        Ok(said) => said,
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => "denied".to_owned(),
        Err(error) => error.to_string(),
    };
    println!("\nDEED={said}");
}

fn perform(
    deed: &str,
    folder: &Path,
    early: &std::fs::File,
    enforced: &Enforced,
) -> io::Result<String> {
    let input = folder.join("read/input");
    match deed {
        "report" => Ok(format!(
            "{} {} {}",
            enforced.landlock_abi,
            u8::from(enforced.landlock_full),
            u8::from(enforced.seccomp)
        )),
        "read input" => std::fs::read(&input).map(done),
        "read opened before" => io::read_to_string(early).map(done),
        "read elsewhere" => std::fs::read(folder.join("secret/file")).map(done),
        "read by symlink" => std::fs::read(folder.join("read/link")).map(done),
        "read staging" => std::fs::read_dir(folder.join("staging")).map(done),
        "list inputs" => std::fs::read_dir(folder.join("read")).map(done),
        "read proc" => std::fs::read("/proc/self/environ").map(done),
        "write staging" => write_and_remove(&folder.join("staging/1")),
        "write elsewhere" => std::fs::write(folder.join("secret/new"), b"x").map(done),
        "write input" => std::fs::File::options().write(true).open(&input).map(done),
        "truncate input" => std::fs::File::options()
            .write(true)
            .truncate(true)
            .open(&input)
            .map(done),
        "remove input" => std::fs::remove_file(&input).map(done),
        "make folder" => std::fs::create_dir(folder.join("staging/folder")).map(done),
        "make symlink" => std::os::unix::fs::symlink(&input, folder.join("staging/link")).map(done),
        "make hard link" => std::fs::hard_link(&input, folder.join("staging/hard")).map(done),
        "rename input" => std::fs::rename(&input, folder.join("staging/moved")).map(done),
        "chmod input" => {
            std::fs::set_permissions(&input, std::fs::Permissions::from_mode(0o777)).map(done)
        }
        "chown input" => std::os::unix::fs::chown(&input, Some(1), None).map(done),
        "touch input" => std::fs::File::open(&input)?
            .set_modified(std::time::UNIX_EPOCH)
            .map(done),
        "xattr input" => {
            Ok(
                rustix::fs::setxattr(&input, "user.a", b"b", rustix::fs::XattrFlags::empty())
                    .map(done)?,
            )
        }
        "lock input" => std::fs::File::open(&input)?.lock_shared().map(done),
        "tcp" => std::net::TcpStream::connect("127.0.0.1:9").map(done),
        "listen" => std::net::TcpListener::bind("127.0.0.1:0").map(done),
        "udp" => std::net::UdpSocket::bind("127.0.0.1:0").map(done),
        "unix socket" => std::os::unix::net::UnixDatagram::unbound().map(done),
        "exec" => Err(Command::new("/bin/true").exec()),
        "fork" => Command::new("/bin/true").spawn().map(done),
        "thread" => thread(),
        "signal parent" => signal_parent(),
        "limit parent" => limit_parent(),
        "own limit" => own_limit(),
        "abort" => std::process::abort(),
        _ => panic!("no such deed: {deed}"),
    }
}

fn done<T>(_: T) -> String {
    "done".to_owned()
}

fn write_and_remove(path: &Path) -> io::Result<String> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL;
    let file = std::fs::File::from(openat(CWD, path, flags, Mode::RUSR)?);
    io::Write::write_all(&mut &file, b"result")?;
    file.set_len(0)?;
    std::fs::remove_file(path)?;
    Ok("done".to_owned())
}

fn thread() -> io::Result<String> {
    let thread = std::thread::Builder::new().spawn(|| std::fs::read("/etc/passwd").is_err())?;
    let confined = thread.join().unwrap();
    Ok(if confined { "confined" } else { "free" }.to_owned())
}

fn parent() -> Pid {
    getppid().unwrap()
}

fn signal_parent() -> io::Result<String> {
    // SIGCONT does nothing to a process that runs, should it get through.
    kill_process(parent(), rustix::process::Signal::CONT)?;
    Ok("done".to_owned())
}

fn limit_parent() -> io::Result<String> {
    let same = getrlimit(Resource::Core);
    prlimit(Some(parent()), Resource::Core, same)?;
    Ok("done".to_owned())
}

fn own_limit() -> io::Result<String> {
    setrlimit(Resource::Cpu, getrlimit(Resource::Cpu))?;
    Ok("done".to_owned())
}

fn denied(deeds: &[&str]) {
    let world = World::new();
    for deed in deeds {
        assert_eq!(world.try_deed(deed), "denied", "{deed}");
    }
    let input = std::fs::metadata(world.root.path().join("read/input")).unwrap();
    assert_eq!(input.len(), 7);
    assert_ne!(input.permissions().mode() & 0o777, 0o777);
}

/// Denied by Landlock alone or by both.
const FILES: &[&str] = &[
    "read elsewhere",
    "read by symlink",
    "read staging",
    "list inputs",
    "read proc",
    "write elsewhere",
    "write input",
    "truncate input",
    "make folder",
];

/// Denied by the system-call filter alone or by both.
const CALLS: &[&str] = &[
    "chmod input",
    "chown input",
    "touch input",
    "xattr input",
    "lock input",
    "make symlink",
    "make hard link",
    "rename input",
    "tcp",
    "listen",
    "udp",
    "unix socket",
    "exec",
    "fork",
    "signal parent",
    "limit parent",
];

#[test]
fn the_work_itself_is_allowed() {
    let world = World::new();
    for deed in [
        "read input",
        "read opened before",
        "write staging",
        "own limit",
    ] {
        assert_eq!(world.try_deed(deed), "done", "{deed}");
    }
}

#[test]
fn other_files_are_out_of_reach() {
    if with_landlock(1) {
        denied(FILES);
        denied(&["remove input"]);
    }
}

#[test]
fn what_landlock_leaves_open_is_denied() {
    if with_seccomp() {
        denied(CALLS);
    }
}

/// The control: without confinement each deed succeeds here, or fails for a reason that is no denial.
#[test]
fn nothing_is_denied_without_confinement() {
    for deed in FILES.iter().chain(CALLS) {
        if *deed == "chown input" && !rustix::process::geteuid().is_root() {
            eprintln!("SKIPPED: only root may give files away");
            continue;
        }
        let world = World::new();
        let said = said(world.child(deed).env(FREE, "1"));
        assert_ne!(said, "denied", "{deed}");
    }
}

#[test]
fn threads_started_later_are_possible_and_confined() {
    if with_landlock(1) {
        assert_eq!(World::new().try_deed("thread"), "confined");
    }
}

#[test]
fn aborting_still_works() {
    use std::os::unix::process::ExitStatusExt;
    let world = World::new();
    let status = world.child("abort").output().unwrap().status;
    let abort = rustix::process::Signal::ABORT.as_raw();
    assert_eq!(status.signal(), Some(abort), "{status:?}");
}

#[test]
fn what_is_reported_is_what_the_kernel_says() {
    let found = offered();
    assert!(
        found.landlock_full <= (found.landlock_abi >= 6),
        "{found:?}"
    );
    if found.landlock_abi == 0 {
        eprintln!("SKIPPED: this kernel has no Landlock, every file test passed over");
    }
}
