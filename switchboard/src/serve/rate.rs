//! Rate limits: of users, and of strangers by the address they come from.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv6Addr};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::store::UserId;

/// The most addresses whose strangers are counted for themselves; others share a bucket.
const MAX_ADDRESSES: usize = 10_000;
/// How many credentials of those who came in lately are kept in mind, at most twice.
const MAX_KNOWN: usize = 5_000;
/// How many bits of an IPv6 address are one customer's.
const IPV6_PREFIX: u32 = 64;

/// A token bucket.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    size: f64,
    per_second: f64,
    level: f64,
    seen: Option<Instant>,
}

impl Bucket {
    /// A full bucket.
    pub(crate) const fn new(size: f64, per_second: f64) -> Self {
        Self {
            size,
            per_second,
            level: size,
            seen: None,
        }
    }

    /// Lets in what flows in until now.
    fn fill(&mut self, now: Instant) {
        if let Some(seen) = self.seen {
            let passed = now.saturating_duration_since(seen).as_secs_f64();
            self.level = (self.level + passed * self.per_second).min(self.size);
        }
        self.seen = Some(now);
    }

    /// Takes a token, or returns the seconds until one is available.
    fn take(&mut self, now: Instant) -> Result<(), Duration> {
        self.fill(now);
        if self.level < 1.0 {
            let missing = (1.0 - self.level) / self.per_second;
            return Err(Duration::from_secs_f64(missing));
        }
        self.level -= 1.0;
        Ok(())
    }

    /// Gives a token back.
    fn give_back(&mut self) {
        self.level = (self.level + 1.0).min(self.size);
    }
}

/// A bucket for each address, as many as there is room for.
#[derive(Debug)]
struct Addresses {
    full: Bucket,
    room: usize,
    buckets: BTreeMap<IpAddr, Bucket>,
    /// For those without room.
    others: Bucket,
}

impl Addresses {
    fn new(full: Bucket, room: usize) -> Self {
        Self {
            full,
            room,
            buckets: BTreeMap::new(),
            others: full,
        }
    }

    fn bucket(&mut self, address: IpAddr, now: Instant) -> &mut Bucket {
        let place = place(address);
        if self.buckets.len() >= self.room && !self.buckets.contains_key(&place) {
            // A bucket that is full again is as good as none.
            self.buckets.retain(|_, bucket| {
                bucket.fill(now);
                bucket.level < bucket.size
            });
            if self.buckets.len() >= self.room {
                return &mut self.others;
            }
        }
        self.buckets.entry(place).or_insert(self.full)
    }
}

/// Whom an address stands for.
fn place(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let rest = u128::MAX >> IPV6_PREFIX;
            Ipv6Addr::from_bits(address.to_bits() & !rest).into()
        }
        address @ IpAddr::V4(_) => address,
    }
}

/// The hashes of the credentials that were good lately: the newer ones, and those before.
#[derive(Debug, Default)]
struct Known {
    newer: BTreeSet<String>,
    older: BTreeSet<String>,
}

/// The buckets of those who come in.
#[derive(Debug)]
pub(crate) struct Rates {
    /// One for each user who is served: their number is bounded.
    users: Mutex<BTreeMap<UserId, Bucket>>,
    /// A user's full bucket.
    user: Bucket,
    /// One for each address of those whom we do not know.
    strangers: Mutex<Addresses>,
    /// One for each address of those who log in.
    logins: Mutex<Addresses>,
    known: Mutex<Known>,
}

impl Rates {
    /// 200 requests a second for a user unless it is said, and ten times that at once; 30 at once and
    /// one a second for strangers at an address; 60 at once and five a second for steps of logins.
    pub(crate) fn new(per_second: Option<u32>) -> Self {
        let rate = per_second.map_or(200.0, f64::from);
        let addresses = |full| Mutex::new(Addresses::new(full, MAX_ADDRESSES));
        Self {
            users: Mutex::default(),
            user: Bucket::new(10.0 * rate, rate),
            strangers: addresses(Bucket::new(30.0, 1.0)),
            logins: addresses(Bucket::new(60.0, 5.0)),
            known: Mutex::default(),
        }
    }

    /// Counts a step of a login; the seconds to wait if it is one too many.
    pub(crate) fn count_login(&self, from: IpAddr) -> Result<(), u64> {
        let now = Instant::now();
        let taken = self.logins.lock().bucket(from, now).take(now);
        taken.map_err(seconds)
    }

    /// Counts a user's request; the seconds to wait if it is one too many.
    pub(crate) fn count(&self, user: &UserId) -> Result<(), u64> {
        let mut users = self.users.lock();
        let bucket = users.entry(user.clone()).or_insert(self.user);
        bucket.take(Instant::now()).map_err(seconds)
    }

    /// Counts a request of someone whom we do not know, before anything is looked up for it; the
    /// seconds to wait if it is one too many.
    pub(crate) fn count_stranger(&self, from: IpAddr) -> Result<(), u64> {
        let now = Instant::now();
        let taken = self.strangers.lock().bucket(from, now).take(now);
        taken.map_err(seconds)
    }

    /// Whether the credential with this hash was good lately: its bearer is no stranger, whoever
    /// else comes from the same address.
    pub(crate) fn knows(&self, credential: &str) -> bool {
        let known = self.known.lock();
        known.newer.contains(credential) || known.older.contains(credential)
    }

    /// The credential of someone who was counted as a stranger is good.
    pub(crate) fn met(&self, from: IpAddr, credential: &str) {
        self.strangers
            .lock()
            .bucket(from, Instant::now())
            .give_back();
        let mut known = self.known.lock();
        if known.newer.len() >= MAX_KNOWN {
            known.older = std::mem::take(&mut known.newer);
        }
        known.newer.insert(credential.to_owned());
    }

    /// The credential with this hash is good no more.
    pub(crate) fn forget(&self, credential: &str) {
        let mut known = self.known.lock();
        known.newer.remove(credential);
        known.older.remove(credential);
    }
}

fn seconds(wait: Duration) -> u64 {
    wait.as_secs() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_gives_what_is_in_it_and_then_what_flows_in() {
        let (mut bucket, start) = (Bucket::new(2.0, 4.0), Instant::now());
        assert_eq!(bucket.take(start), Ok(()));
        assert_eq!(bucket.take(start), Ok(()));
        assert_eq!(bucket.take(start), Err(Duration::from_millis(250)));
        let later = start + Duration::from_millis(250);
        assert_eq!(bucket.take(later), Ok(()));
        let much_later = start + Duration::from_secs(60);
        assert_eq!(bucket.take(much_later), Ok(()));
        assert_eq!(bucket.take(much_later), Ok(()));
        assert!(
            bucket.take(much_later).is_err(),
            "it holds no more than two"
        );
    }

    #[test]
    fn strangers_at_one_address_keep_no_one_else_out() {
        let rates = Rates::new(None);
        let address = |text: &str| -> IpAddr { text.parse().unwrap() };
        let tries = |from: &str| {
            let from = address(from);
            (0..40)
                .filter(|_| rates.count_stranger(from).is_ok())
                .count()
        };
        assert!((30..40).contains(&tries("203.0.113.9")));
        assert!(tries("203.0.113.10") >= 30, "another address");
        assert!(rates.count_stranger(address("::ffff:203.0.113.9")).is_err());
        // A customer has many addresses of the newer kind.
        assert!(tries("2001:db8::1") >= 30);
        assert!(rates.count_stranger(address("2001:db8::ffff")).is_err());
        assert!(rates.count_stranger(address("2001:db8:0:1::1")).is_ok());
    }

    #[test]
    fn addresses_without_room_share_a_bucket() {
        let now = Instant::now();
        let mut addresses = Addresses::new(Bucket::new(2.0, 1.0), 2);
        let mut take = |last: u8, now| {
            let from = IpAddr::from([203, 0, 113, last]);
            addresses.bucket(from, now).take(now).is_ok()
        };
        assert!(take(1, now) && take(2, now));
        assert!(take(3, now) && take(4, now) && !take(5, now), "they share");
        assert!(take(1, now), "who was there before does not");
        let later = now + Duration::from_secs(60);
        assert!(take(6, later) && take(6, later) && !take(6, later));
    }

    #[test]
    fn a_good_credential_is_kept_in_mind_until_it_is_good_no_more() {
        let (rates, from) = (Rates::new(None), IpAddr::from([203, 0, 113, 9]));
        assert!(!rates.knows("a"));
        for _ in 0..100 {
            rates.count_stranger(from).unwrap();
            rates.met(from, "a");
        }
        assert!(rates.knows("a"));
        rates.forget("a");
        assert!(!rates.knows("a"));
        for number in 0..2 * MAX_KNOWN + 1 {
            rates.met(from, &number.to_string());
        }
        assert!(!rates.knows("0"), "their number is bounded");
    }
}
