//! The system calls a contained server may make, as data.
//!
//! There are two lists and two filters. A call that [`KNOWN`] does not name fails with `ENOSYS`, as on a kernel without
//! it, so that programs fall back to older calls: this covers all future calls, the 32-bit ABIs and `clone3`, whose
//! flags a filter cannot see. A call that [`refused`] names fails with `EPERM`.

mod known;
mod refused;

pub(crate) use known::KNOWN;
pub(crate) use refused::refused;

/// A system call by its name and number.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Call {
    /// Its constant in the C library, shown where a plan is printed.
    pub(crate) constant: &'static str,
    pub(crate) number: i64,
}

/// A call that is refused if all conditions of one of the lists hold; without lists, always.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Refusal {
    pub(crate) call: Call,
    pub(crate) when: Vec<Vec<Condition>>,
}

/// A condition on an argument of a call, counted from 0.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Condition {
    /// The lower 32 bits equal this.
    Is(u8, u32),
    /// The lower 32 bits do not equal this.
    IsNot(u8, u32),
    /// The lower 32 bits, masked, equal this.
    Masked(u8, u32, u32),
    /// It is a non-null pointer.
    IsSet(u8),
}

/// `calls![SYS_read, SYS_write]`, with the numbers of the machine that this is compiled for.
macro_rules! calls {
    ($($name:ident),* $(,)?) => {
        &[$($crate::syscalls::Call {
            constant: stringify!($name),
            #[allow(clippy::unnecessary_cast, reason = "a `c_long` has 32 bits on some machines")]
            number: libc::$name as i64,
        }),*]
    };
}

pub(crate) use calls;

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::profile::{Network, Profile};

    #[test]
    fn no_call_is_known_twice_or_both_known_and_always_refused() {
        let known: Vec<&str> = KNOWN
            .iter()
            .copied()
            .flatten()
            .map(|it| it.constant)
            .collect();
        let distinct: BTreeSet<&str> = known.iter().copied().collect();
        assert_eq!(known.len(), distinct.len());
        let profile = Profile::new()
            .with_network(Network::All)
            .with_attributes()
            .with_unix_sockets();
        let always = refused(&profile)
            .into_iter()
            .filter(|it| it.when.is_empty());
        let both: Vec<_> = always
            .filter(|it| distinct.contains(it.call.constant))
            .collect();
        assert_eq!(
            both,
            [],
            "what is refused whatever the profile need not be known"
        );
    }

    #[test]
    fn a_looser_profile_refuses_no_more_calls() {
        let count = |profile: &Profile| {
            refused(profile)
                .iter()
                .filter(|it| it.when.is_empty())
                .count()
        };
        let strict = Profile::new();
        let looser = Profile::new().with_network(Network::All);
        let loosest = looser.clone().with_attributes().with_unix_sockets();
        assert!(count(&strict) > count(&looser) && count(&looser) > count(&loosest));
    }
}
