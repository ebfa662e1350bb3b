//! What is made from the flags for other programs to show: manual pages and completions of shells. Pure.

use super::args::Cli;
use super::layers::run_command;
use clap::{Command, CommandFactory};
use clap_complete::Shell;
use std::io;

/// How it is called. Every flag in brackets, which is what would be made of them, tells nobody anything.
const SYNOPSIS: &str = r#".SH SYNOPSIS
.B pressroom
[\fIOPTIONS\fR] \fIPATH\fR... (\fB\-o\fR \fIDIR\fR | \fB\-\-in\-place\fR)
.br
.B pressroom report
[\fIOPTIONS\fR] [\fIDIR\fR|\fIFILE\fR]...
.br
.B pressroom doctor
[\fIDIR\fR]
.br
.B pressroom config
[\fIOPTIONS\fR]
.br
.B pressroom bench
[\fIOPTIONS\fR] [\fIPATH\fR]... [\-\- \fIRUN FLAGS\fR]
.br
.B pressroom completions
\fISHELL\fR
"#;

/// Sections of the manual that no flag tells.
const ENVIRONMENT: &str = r#".SH ENVIRONMENT
.TP
.B PRESSROOM_*
Every long flag has a variable of its name: PRESSROOM_MAX_SIZE=300KB is \-\-max\-size 300KB. A switch is on with 1, true, yes or on.
A flag wins over a variable, a variable over the settings file.
.TP
.B PRESSROOM_CONFIG, PRESSROOM_PROFILE
As \-\-config and \-\-profile.
.TP
.B XDG_CONFIG_HOME, HOME
Where the settings file is looked for.
.TP
.B TMPDIR
Where a dry run and the page of a report keep what they need for a moment.
.SH FILES
.TP
.I ~/.config/pressroom/config.toml
Settings: any long flag as a key, at the top or in [profile.NAME]. `pressroom config` prints what is in force and where it comes from.
.TP
.I OUTPUT/.pressroom/ledger.db
What became of each picture, as SQLite. Without it the next run does every picture again.
.TP
.I OUTPUT/.pressroom/lock
Held while a run is going on.
.SH SEE ALSO
.BR pressroom\-report (1),
.BR pressroom\-doctor (1),
.BR pressroom\-config (1),
.BR pressroom\-bench (1)
"#;

/// The whole command: a run's flags, and the other commands beside them.
pub(super) fn whole(bench: Command) -> Command {
    let all = Cli::command();
    let others: Vec<Command> = all
        .get_subcommands()
        .filter(|command| !command.is_hide_set() && command.get_name() != "run")
        .cloned()
        .collect();
    run_command().subcommands(others).subcommand(bench)
}

/// The completions of a shell as a script.
pub(crate) fn completions(shell: Shell, bench: Command) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut whole(bench), "pressroom", &mut script);
    String::from_utf8_lossy(&script).into_owned()
}

/// The manual: file names and pages in roff.
pub(crate) fn manual(bench: Command) -> io::Result<Vec<(String, Vec<u8>)>> {
    let mut whole = whole(bench);
    whole.build();
    let mut pages = vec![("pressroom.1".to_owned(), main_page(&whole)?)];
    for command in whole
        .get_subcommands()
        .filter(|command| command.get_name() != "help")
    {
        let name = format!("pressroom-{}", command.get_name());
        let mut page = Vec::new();
        clap_mangen::Man::new(command.clone().display_name(&name))
            .title(&name)
            .render(&mut page)?;
        pages.push((format!("{name}.1"), page));
    }
    Ok(pages)
}

fn main_page(command: &Command) -> io::Result<Vec<u8>> {
    let man = clap_mangen::Man::new(command.clone());
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    page.extend_from_slice(SYNOPSIS.as_bytes());
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    man.render_subcommands_section(&mut page)?;
    man.render_extra_section(&mut page)?;
    page.extend_from_slice(ENVIRONMENT.as_bytes());
    man.render_version_section(&mut page)?;
    Ok(page)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flag_is_in_the_manual_and_in_every_shell() {
        let pages = manual(Command::new("bench")).unwrap();
        let names: Vec<&str> = pages.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names[0], "pressroom.1");
        assert!(
            names.contains(&"pressroom-report.1") && !names.iter().any(|name| name.contains("__")),
            "{names:?}"
        );
        let main = String::from_utf8(pages[0].1.clone()).unwrap();
        let scripts = [Shell::Bash, Shell::Zsh, Shell::Fish]
            .map(|shell| completions(shell, Command::new("bench")));
        for arg in run_command()
            .get_arguments()
            .filter(|arg| !arg.is_hide_set())
        {
            let Some(long) = arg.get_long() else { continue };
            assert!(
                main.contains(&format!(r"\-\-{}", long.replace('-', r"\-"))),
                "{long}"
            );
            for script in &scripts {
                assert!(script.contains(long), "{long}");
            }
        }
        for words in ["ENVIRONMENT", "FILES", "Exit codes"] {
            assert!(main.contains(words), "{words}");
        }
    }
}
