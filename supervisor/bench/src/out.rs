//! The one place of the bench that prints and writes reports.

use std::io::Write;
use std::path::Path;

/// Prints a text that was asked for. A reader that went away has read enough.
pub(crate) fn say(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// Prints beside the answer.
pub(crate) fn note(text: &str) {
    let mut err = std::io::stderr().lock();
    let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
}

/// Says what is wrong.
pub(crate) fn complain(text: &str) {
    note(&format!("pressroom bench: {}\n", text.trim_end()));
}

/// Writes a report in one step: whoever reads the file sees the old one or the whole new one.
///
/// # Errors
/// Whatever the system says.
pub(crate) fn write(path: &Path, text: &str) -> std::io::Result<()> {
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        Some(_) | None => Path::new("."),
    };
    let mut file = tempfile::Builder::new()
        .prefix(".pressroom-bench-")
        .permissions(std::os::unix::fs::PermissionsExt::from_mode(0o644))
        .tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.persist(path)?;
    Ok(())
}
