//! tests follow
