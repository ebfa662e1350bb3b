//! The deciding half of pressroom.
//!
//! One executable plays two parts. A person or cron starts it as the supervisor, which is this crate: it walks the
//! inputs, keeps one worker process per usable core in work, and writes down what became of every file. It starts itself
//! again as a worker, which is told one file at a time, writes its result into a staging folder and answers; nothing but
//! paths and small numbers crosses the pipe between them. Workers are expected to crash, hang and lie, so what one of them
//! does can cost its own file and no other. Every decision about that is taken in [`pool`], which does no I/O at all: start
//! reading there, then see `driver`, the one loop that carries its decisions out.

pub mod cli;
pub mod cores;
pub mod exit;
pub mod filter;
pub mod lock;
pub mod plan;
pub mod source;
pub mod units;

pub mod ledger;
mod death;
mod driver;
mod link;
mod signal;
mod sys;
pub mod pool;
pub mod publish;
pub mod recorder;
pub mod report;
pub mod stage;
pub mod task;

