//! Records as CSV (RFC 4180): a head and one record per file, for spreadsheets. The columns are the fields of
//! [`super::json`] under the same names.

use super::json::exact;
use crate::ledger::{Entry, words};

/// The head, with its line end.
pub const HEAD: &str = "path,path_base64,source,source_base64,outcome,reason,message,warnings,format,bytes_in,bytes_out,width,height,quality,cpu_us,wall_us,peak_rss,deaths,seat,started_ms,ended_ms\r\n";

/// The record of a file, with its line end.
pub fn file(entry: &Entry) -> String {
    let output = entry.output();
    let fields = [
        output.to_string_lossy().into_owned(),
        exact(&output).unwrap_or_default(),
        entry.source.to_string_lossy().into_owned(),
        exact(&entry.source).unwrap_or_default(),
        words::verdict(entry.verdict).to_owned(),
        entry.reason.to_string(),
        entry.message.clone(),
        entry.warnings.join("; "),
        entry.format.as_deref().unwrap_or_default().to_owned(),
        entry.bytes_in.to_string(),
        or_nothing(entry.bytes_out),
        or_nothing(entry.width),
        or_nothing(entry.height),
        or_nothing(entry.quality),
        entry.cpu_us.to_string(),
        entry.wall_us.to_string(),
        entry.peak_rss.to_string(),
        entry.deaths.to_string(),
        or_nothing(entry.seat),
        entry.started_ms.to_string(),
        entry.ended_ms.to_string(),
    ];
    let mut line = fields.map(|field| quoted(&field)).join(",");
    line.push_str("\r\n");
    line
}

fn or_nothing<T: ToString>(value: Option<T>) -> String {
    value.map_or(String::new(), |value| value.to_string())
}

/// A field, in quotes where RFC 4180 wants them. A spreadsheet takes a text that begins with one of `=+-@` for a formula
/// and would run it, so such a field gets an apostrophe first.
fn quoted(field: &str) -> String {
    let formula = field.starts_with(['=', '+', '-', '@', '\t']);
    let guard = if formula { "'" } else { "" };
    if formula || field.contains(['"', ',', '\n', '\r']) {
        format!("\"{guard}{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples;
    use super::*;

    #[test]
    fn a_record_has_as_many_fields_as_the_head() {
        let line = file(&samples::saved());
        assert_eq!(line.split(',').count(), HEAD.split(',').count());
        insta::assert_snapshot!(line.trim_end(), @"a/one.jpg,,/in/a/one.jpg,,saved,,,,jpeg,4500000,299000,4000,3000,61,40000,41000,14680064,0,1,5,46");
    }

    #[test]
    fn an_original_that_was_kept_is_named_as_it_is_there() {
        let mut entry = samples::kept();
        entry.target = "a/small.webp".into();
        assert!(file(&entry).starts_with("a/small.jpg,,/in/a/small.jpg,"));
    }

    #[test]
    fn awkward_names_are_quoted_and_formulas_disarmed() {
        assert_eq!(quoted("a,\"b\"\nc"), "\"a,\"\"b\"\"\nc\"");
        assert_eq!(quoted("=HYPERLINK(1)"), "\"'=HYPERLINK(1)\"");
        assert_eq!(quoted("plain name.jpg"), "plain name.jpg");
    }
}
