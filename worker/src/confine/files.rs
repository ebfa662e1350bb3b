//! Landlock: which files this process may still open. Knows nothing of system calls.

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, LandlockStatus,
    PathBeneath, PathFd, Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetError,
    RulesetStatus, Scope,
};
use pressroom_shared::{Enforced, WirePath};

/// The newest ABI of which everything is asked for; on an older kernel the rest is reported as missing.
const NEWEST: ABI = ABI::V6;

/// Restricts this thread and those it starts later to reading `read` and writing in `staging`.
///
/// # Errors
/// In words, what is not covered; what can be covered is, and stands in `enforced`.
pub(super) fn restrict(
    read: &[WirePath],
    staging: &WirePath,
    enforced: &mut Enforced,
) -> Result<(), String> {
    let status = ruleset(read, staging)
        .and_then(RulesetCreated::restrict_self)
        .map_err(|error| format!("Landlock failed: {error}"))?;
    if status.ruleset == RulesetStatus::NotEnforced {
        return Err("this kernel has no Landlock".to_owned());
    }
    enforced.landlock_abi = abi(&status.landlock);
    enforced.landlock_full = status.ruleset == RulesetStatus::FullyEnforced && status.no_new_privs;
    if enforced.landlock_full {
        Ok(())
    } else {
        Err(format!(
            "this kernel's Landlock (ABI {}) covers only a part",
            enforced.landlock_abi
        ))
    }
}

/// Everything is forbidden but for the rules added: no network at all, and no right but reading and staging.
fn ruleset(read: &[WirePath], staging: &WirePath) -> Result<RulesetCreated, RulesetError> {
    let ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(NEWEST))?
        .handle_access(AccessNet::from_all(NEWEST))?
        .scope(Scope::from_all(NEWEST))?
        .create()?;
    let ruleset = read.iter().try_fold(ruleset, |ruleset, path| {
        allow(ruleset, path, AccessFs::ReadFile.into())
    })?;
    allow(ruleset, staging, writing())
}

/// What is needed to make, write, read again, begin again and remove a plain file; no folder, link, device or rename.
fn writing() -> BitFlags<AccessFs> {
    AccessFs::ReadFile
        | AccessFs::WriteFile
        | AccessFs::Truncate
        | AccessFs::MakeReg
        | AccessFs::RemoveFile
}

/// A path that cannot be opened gets no rule, so it stays forbidden: the jobs that need it fail one by one.
fn allow(
    ruleset: RulesetCreated,
    path: &WirePath,
    access: BitFlags<AccessFs>,
) -> Result<RulesetCreated, RulesetError> {
    match PathFd::new(path.as_path()) {
        Ok(opened) => ruleset.add_rule(PathBeneath::new(opened, access)),
        Err(_) => Ok(ruleset),
    }
}

fn abi(status: &LandlockStatus) -> u8 {
    match status {
        LandlockStatus::NotEnabled | LandlockStatus::NotImplemented => 0,
        LandlockStatus::Available { effective_abi, .. } => *effective_abi as u8,
    }
}
