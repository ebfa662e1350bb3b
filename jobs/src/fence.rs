//! The one place where a panic is caught: a codec that panics on a picture is one failed picture.
//!
//! Big buffers are freed by unwinding; claims on the budget are not given back, so a budget serves one job only.

use crate::{Error, Format};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs `work` and turns a panic into [`Error::Codec`].
///
/// # Errors
/// Those of `work`, and [`Error::Codec`].
pub(crate) fn fenced<T>(
    format: Format,
    work: impl FnOnce() -> Result<T, Error>,
) -> Result<T, Error> {
    // Nothing that `work` borrows is looked at after a panic: source and budget have no state that could be half
    // changed, and the sink's content is void after an error.
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|payload| {
        Err(Error::Codec {
            format,
            what: message(payload.as_ref()),
        })
    })
}

fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("it panicked without a message").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_an_error_with_its_message() {
        let result: Result<(), _> = fenced(Format::Png, || panic!("index {} out of range", 7));
        let Err(Error::Codec { format, what }) = result else {
            panic!("expected a codec error");
        };
        assert_eq!(
            (format, what.as_str()),
            (Format::Png, "index 7 out of range")
        );
    }

    #[test]
    fn values_and_errors_pass() {
        assert!(matches!(fenced(Format::Png, || Ok(3)), Ok(3)));
        assert!(matches!(
            fenced::<()>(Format::Png, || Err(Error::Empty)),
            Err(Error::Empty)
        ));
    }
}
