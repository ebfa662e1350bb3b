//! Tests of `terminal`.

use super::*;
use crate::ledger::HowEnded;

fn quiet_with_json(json: Sink) -> OutputConfig {
    OutputConfig {
        verbosity: 0,
        quiet: true,
        known_failures: KnownFailures::Fail,
        progress: Progress::Auto,
        json: Some(json),
        csv: None,
        html: None,
        metrics: None,
        dry_run: false,
    }
}

/// A terminal of a run that has its lock.
fn opened(output: &OutputConfig) -> Result<Terminal, OutputError> {
    let mut terminal = Terminal::new(output)?;
    terminal.open_records(output)?;
    Ok(terminal)
}

#[test]
fn a_full_disk_loses_text_and_says_so_and_goes_on() {
    let mut terminal = opened(&quiet_with_json(Sink::File("/dev/full".into()))).unwrap();
    for _ in 0..3 {
        terminal.record(&crate::recorder::sample_record());
    }
    assert_eq!(terminal.tally().saved, 3);
    let facts = super::super::samples::facts();
    assert_eq!(facts.how, Some(HowEnded::Finished));
    assert!(!terminal.finish(&facts));
}

#[test]
fn records_are_written_as_they_come() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.ndjson");
    let output = quiet_with_json(Sink::File(path.clone()));
    let _waiting = Terminal::new(&output).unwrap();
    assert!(!path.exists(), "another run's report may stand there");
    let mut terminal = opened(&output).unwrap();
    terminal.record(&crate::recorder::sample_record());
    assert_eq!(std::fs::read_to_string(&path).unwrap().lines().count(), 1);
    assert!(terminal.finish(&super::super::samples::facts()));
    assert_eq!(std::fs::read_to_string(&path).unwrap().lines().count(), 2);
}

#[test]
fn a_photo_in_place_of_a_report_stays_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("photo");
    std::fs::write(&path, "\u{ff}\u{d8} a photo").unwrap();
    let mut places = [
        quiet_with_json(Sink::File(path.clone())),
        quiet_with_json(Sink::Stdout),
        quiet_with_json(Sink::Stdout),
        quiet_with_json(Sink::Stdout),
    ];
    places[1].csv = Some(path.clone());
    places[2].html = Some(path.clone());
    places[3].metrics = Some(path.clone());
    for output in places {
        let error = Terminal::new(&output).unwrap_err();
        assert!(matches!(error, OutputError::Occupied(_)), "{error}");
        assert_eq!(
            std::fs::read_to_string(&path).unwrap(),
            "\u{ff}\u{d8} a photo"
        );
    }
}

#[test]
fn names_in_a_note_do_not_drive_the_terminal() {
    let text = note("no\u{1b}[31m\rsuch\u{202e}\nUsage: pressroom");
    assert_eq!(
        text,
        "pressroom: no\\u{1b}[31m\\rsuch\\u{202e}\nUsage: pressroom\n"
    );
}

#[test]
fn a_file_that_cannot_be_made_is_named() {
    let error = opened(&quiet_with_json(Sink::File("/nowhere/at/all".into()))).unwrap_err();
    assert!(error.to_string().contains("/nowhere/at/all"), "{error}");
}

#[test]
fn bars_are_for_terminals_that_move_their_cursor() {
    let of =
        |asked, is_terminal, term: Option<&str>| form(asked, is_terminal, term.map(OsStr::new));
    for (term, shown) in [
        (Some("xterm-256color"), Form::Bars),
        (Some("dumb"), Form::Lines),
        (Some(""), Form::Lines),
        (None, Form::Lines),
    ] {
        assert_eq!(of(Progress::Auto, true, term), shown, "{term:?}");
        assert_eq!(of(Progress::Bar, true, term), shown, "{term:?}");
        assert_eq!(of(Progress::Auto, false, term), Form::Off, "{term:?}");
        assert_eq!(of(Progress::Bar, false, term), Form::Lines, "{term:?}");
        assert_eq!(of(Progress::Lines, true, term), Form::Lines, "{term:?}");
        assert_eq!(of(Progress::Off, true, term), Form::Off, "{term:?}");
    }
}
