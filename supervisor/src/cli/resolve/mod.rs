//! From flags to a [`Config`]: what they mean together, and every conflict between them. Pure.

mod conflict;
mod running;
mod settings;

use self::conflict::{Conflict, Resolved};
use super::args::{FileArgs, OutputArgs, PlaceArgs, ResultArgs, RunArgs};
use super::config::{
    Config, Destination, Inputs, ListFrom, Naming, OutputConfig, Overwrite, Preserve, Progress,
    Publishing, Selection, Sink,
};
use super::values::{FormatArg, PreserveArg};
use crate::filter;
use std::path::{Path, PathBuf};

/// Makes the [`Config`].
pub(super) fn resolve(args: RunArgs) -> Resolved<Config> {
    let RunArgs {
        paths,
        place,
        result,
        metadata,
        files,
        running,
        output,
    } = args;
    let inputs = inputs(paths, &files)?;
    let destination = destination(place)?;
    let in_place = matches!(destination, Destination::InPlace { .. });
    if in_place {
        refuse_in_place(&result, &files)?;
    }
    let limits = running::limits(&running)?;
    Ok(Config {
        inputs,
        naming: naming(&files)?,
        settings: settings::settings(&result, &metadata, &files)?,
        selection: selection(&files)?,
        publishing: Publishing {
            overwrite: files.overwrite.unwrap_or(Overwrite::Never),
            preserve: preserve(&files.preserve, in_place)?,
        },
        running: running::running(running)?,
        output: self::output(output)?,
        destination,
        limits,
    })
}

fn destination(place: PlaceArgs) -> Resolved<Destination> {
    let PlaceArgs {
        output,
        in_place,
        backup,
    } = place;
    match (output, in_place) {
        (Some(_), true) => Err(Conflict::new(
            &["output", "in-place"],
            "--output and --in-place exclude each other: drop one",
        )),
        (None, false) => Err(Conflict::new(
            &[],
            "where should the results go? Add -o DIR for a folder of their own, or --in-place to replace the originals",
        )),
        (Some(root), false) if root.as_os_str().is_empty() => Err(Conflict::new(
            &["output"],
            "--output is empty: name a folder",
        )),
        (Some(_), false) if backup.is_some() => Err(Conflict::new(
            &["output", "backup"],
            "--backup is for --in-place: with --output the originals are not touched, drop --backup",
        )),
        (Some(root), false) => Ok(Destination::Tree { root }),
        (None, true) => Ok(Destination::InPlace { backup }),
    }
}

/// Flags that would give results other names than their originals, or reach files through other names.
fn refuse_in_place(result: &ResultArgs, files: &FileArgs) -> Resolved<()> {
    let format = result
        .format
        .is_some_and(|format| format != FormatArg::Same);
    let clashes = [
        (format, "format", "results would get other names"),
        (files.flatten, "flatten", "originals stay where they are"),
        (
            files.suffix.is_some(),
            "suffix",
            "results would get other names",
        ),
        (
            files.overwrite.is_some(),
            "overwrite",
            "originals are always replaced",
        ),
        (
            files.follow_symlinks,
            "follow-symlinks",
            "links are never replaced; name the folders they point to",
        ),
    ];
    match clashes.into_iter().find(|(given, ..)| *given) {
        None => Ok(()),
        Some((_, key, why)) => Err(Conflict::new(
            &["in-place", key],
            format!("--in-place does not go with --{key}: {why}. Use -o DIR, or drop --{key}"),
        )),
    }
}

fn inputs(mut paths: Vec<PathBuf>, files: &FileArgs) -> Resolved<Inputs> {
    let Some(list) = &files.files_from else {
        if files.null {
            return Err(Conflict::new(
                &["null"],
                "-0 says how --files-from is read: add --files-from FILE, or drop -0",
            ));
        }
        if paths.is_empty() {
            return Err(Conflict::new(
                &[],
                "no input: name a file or a folder, for example\n  pressroom photos -o small --max-size 300KB\nTry 'pressroom --help'.",
            ));
        }
        return Ok(Inputs::Paths(paths));
    };
    if paths.len() > 1 {
        return Err(Conflict::new(
            &["files-from"],
            "with --files-from at most one PATH can be given: the folder whose tree is mirrored",
        ));
    }
    Ok(Inputs::List {
        from: if list.as_os_str() == "-" {
            ListFrom::Stdin
        } else {
            ListFrom::File(list.clone())
        },
        separator: if files.null { 0 } else { b'\n' },
        base: paths.pop().unwrap_or_else(|| PathBuf::from(".")),
    })
}

fn naming(files: &FileArgs) -> Resolved<Naming> {
    let suffix = files.suffix.clone();
    if suffix
        .as_ref()
        .is_some_and(|text| text.is_empty() || text.contains(['/', '\0']))
    {
        return Err(Conflict::new(
            &["suffix"],
            "--suffix is part of a name: it cannot be empty or hold a slash",
        ));
    }
    Ok(Naming {
        flatten: files.flatten,
        suffix,
    })
}

fn selection(files: &FileArgs) -> Resolved<Selection> {
    if files.recursive && files.no_recursive {
        return Err(Conflict::new(
            &["recursive", "no-recursive"],
            "--recursive and --no-recursive exclude each other: drop one",
        ));
    }
    let globs = |key, patterns: &[String]| {
        filter::globs(patterns).map_err(|error| {
            Conflict::new(
                &[key],
                format!("--{key}: {error}; write for example '*.jpg' or 'raw/**'"),
            )
        })
    };
    let include = globs("include", &files.include)?;
    Ok(Selection {
        include: (!files.include.is_empty()).then_some(include),
        exclude: globs("exclude", &files.exclude)?,
        recurse: !files.no_recursive,
        hidden: files.hidden,
        by_name: files.by_name,
        follow_symlinks: files.follow_symlinks,
    })
}

fn preserve(list: &[PreserveArg], in_place: bool) -> Resolved<Preserve> {
    let all = Preserve {
        mode: true,
        times: true,
        owner: true,
        xattr: true,
    };
    if list.is_empty() {
        return Ok(if in_place {
            all
        } else {
            Preserve {
                mode: true,
                times: true,
                ..Preserve::default()
            }
        });
    }
    if list.contains(&PreserveArg::None) && list.len() > 1 {
        return Err(Conflict::new(
            &["preserve"],
            "--preserve none stands alone: drop it or the others",
        ));
    }
    let has = |wanted| list.contains(&PreserveArg::All) || list.contains(&wanted);
    Ok(Preserve {
        mode: has(PreserveArg::Mode),
        times: has(PreserveArg::Times),
        owner: has(PreserveArg::Owner),
        xattr: has(PreserveArg::Xattr),
    })
}

fn output(args: OutputArgs) -> Resolved<OutputConfig> {
    if args.quiet && args.verbose > 0 {
        return Err(Conflict::new(
            &["quiet", "verbose"],
            "--quiet and --verbose exclude each other: drop one",
        ));
    }
    let stdout = |path: &Path| path.as_os_str() == "-";
    if let Some(csv) = args.csv.as_deref().filter(|path| stdout(path)) {
        let text = format!(
            "--csv {} is no file: name one, or use --json - for a stream",
            csv.display()
        );
        return Err(Conflict::new(&["csv"], text));
    }
    Ok(OutputConfig {
        verbosity: args.verbose,
        quiet: args.quiet,
        known_failures: args.known_failures.unwrap_or_default(),
        progress: args.progress.unwrap_or(Progress::Auto),
        json: args.json.map(|path| {
            if stdout(&path) {
                Sink::Stdout
            } else {
                Sink::File(path)
            }
        }),
        csv: args.csv,
        html: args.html,
        metrics: args.metrics,
        dry_run: args.dry_run,
    })
}
