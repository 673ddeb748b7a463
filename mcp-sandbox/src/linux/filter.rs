//! The lists of system calls as BPF programs for the kernel.

use std::collections::BTreeMap;
use std::io;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};

use crate::profile::Profile;
use crate::syscalls::{Condition, KNOWN, Refusal, refused};

/// The filters, in the order in which they are to be installed: of two that refuse a call, the error
/// of the last one counts.
pub(super) fn compile(profile: &Profile) -> io::Result<[BpfProgram; 2]> {
    let known = KNOWN.into_iter().flatten();
    let known = known.map(|call| (call.number, Vec::new())).collect();
    let unknown = SeccompAction::Errno(libc::ENOSYS as u32);
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = BTreeMap::new();
    for Refusal { call, when } in refused(profile) {
        let lists = when.into_iter().map(rule).collect::<io::Result<Vec<_>>>()?;
        rules.entry(call.number).or_default().extend(lists);
    }
    let denied = SeccompAction::Errno(libc::EPERM as u32);
    Ok([
        program(known, unknown, SeccompAction::Allow)?,
        program(rules, SeccompAction::Allow, denied)?,
    ])
}

/// Whether there are filters for this kind of machine.
pub(super) fn is_supported() -> bool {
    architecture().is_some()
}

fn architecture() -> Option<TargetArch> {
    std::env::consts::ARCH.try_into().ok()
}

fn program(
    rules: BTreeMap<i64, Vec<SeccompRule>>,
    otherwise: SeccompAction,
    matched: SeccompAction,
) -> io::Result<BpfProgram> {
    let Some(architecture) = architecture() else {
        return Ok(BpfProgram::new());
    };
    SeccompFilter::new(rules, otherwise, matched, architecture)
        .and_then(BpfProgram::try_from)
        .map_err(io::Error::other)
}

fn rule(conditions: Vec<Condition>) -> io::Result<SeccompRule> {
    let (dword, qword) = (SeccompCmpArgLen::Dword, SeccompCmpArgLen::Qword);
    let condition = |condition| match condition {
        Condition::Is(arg, value) => (arg, dword.clone(), SeccompCmpOp::Eq, value),
        Condition::IsNot(arg, value) => (arg, dword.clone(), SeccompCmpOp::Ne, value),
        Condition::Masked(arg, mask, value) => {
            let masked = SeccompCmpOp::MaskedEq(mask.into());
            (arg, dword.clone(), masked, value)
        }
        Condition::IsSet(arg) => (arg, qword.clone(), SeccompCmpOp::Ne, 0),
    };
    let conditions = conditions
        .into_iter()
        .map(condition)
        .map(|(arg, length, is, value)| SeccompCondition::new(arg, length, is, value.into()));
    conditions
        .collect::<Result<Vec<_>, _>>()
        .and_then(SeccompRule::new)
        .map_err(io::Error::other)
}
