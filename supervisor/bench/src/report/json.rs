//! Every figure as one JSON object, for programs. The form is that of [`crate::book`]; `schema` counts its versions.

use crate::book::Book;

/// The object and a newline.
///
/// # Errors
/// None that a [`Book`] could cause: it holds no map with odd keys.
pub(crate) fn object(book: &Book) -> Result<String, serde_json::Error> {
    serde_json::to_string_pretty(book).map(|text| text + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples;

    #[test]
    fn the_form_is_as_promised() {
        insta::assert_snapshot!(object(&samples::book()).unwrap());
    }
}
