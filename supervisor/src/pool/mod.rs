//! The pool: which worker does which job, and what a death means. All decisions of a run are taken here.
//!
//! It does no I/O, reads no clock and knows neither tokio nor processes: [`Machine::handle`] is told what happened and
//! when, [`Machine::poll`] says what to do, [`Machine::next_deadline`] how long one may sleep. The driver does the rest.
//!
//! A seat's life:
//!
//! ```text
//!              Spawn                 Ready                job sent
//!   Vacant ------------> Starting ----------> Live(idle) <--------> Live(busy)
//!     ^  ^                  |  |                |  |       Done        |
//!     |  | rested     exit  |  |          Close |  | deadline,         | deadline,
//!     |  |                  v  |                v  | nonsense          | nonsense
//!     |  +--------------- Cooling             Closing ------+          |
//!     |                        | deadline       |  deadline |          |
//!     |                        +-----------------------> Dying <-------+
//!     |         exit                            |           | not gone in time
//!     +-----------------------------------------+-----------+---> WrittenOff
//! ```
//!
//! The rules it keeps, each checked by random schedules in `schedules.rs`:
//!
//! 1. Every message carries seat and incarnation; one from an older process is dropped.
//! 2. Only a process's exit frees its seat; a kill does not. A kill of a process that is gone does nothing.
//! 3. A failed image is a value, a dead worker an event; only "the tool cannot go on" ends a run by itself.
//! 4. Bad starts and idle deaths spend budgets; a death on a job blames the job and spends none.
//!    Where a job was ever done, a death with one in hand is not idle, and bad starts end the run only after minutes.
//! 5. After an ambiguous death a job is tried once more, in a process that has done nothing else; then it is guilty. A job
//!    its worker never began goes back without blame, and so does one whose worker was told to go.
//! 6. A source that changed is looked at again once.
//! 7. An answer counts if it comes before the exit, even after a kill.
//! 8. Every job found gets exactly one `Publish` or `Report`, and `Finish` comes once and last.

mod budget;
mod command;
mod dispatch;
mod ending;
mod event;
mod fate;
mod machine;
mod moment;
mod policy;
mod queue;
mod seat;

#[cfg(test)]
mod schedules;
#[cfg(test)]
mod transitions;

pub use command::{CannotGoOn, Command, Finish, KillReason, Ruling, StopReason};
pub use event::{Cause, Event, Finding, Recorded, Stop, WorkerId};
pub use machine::Machine;
pub use moment::{Moment, WorkingTime};
pub use policy::{Blame, Cap, MaxFail, Policy};
