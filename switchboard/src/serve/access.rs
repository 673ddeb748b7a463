//! Access tokens, one per user, in a file readable by its owner only.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use sha2::{Digest as _, Sha256};

use crate::exit::{Exit, Failure};
use crate::home;
use crate::store::UserId;
use crate::token;

/// The bytes of a token.
const BYTES: usize = 32;
/// How long a code can be exchanged.
const CODE_LIFETIME: Duration = Duration::from_secs(120);
/// Maximum number of open codes; the oldest are dropped.
const MAX_CODES: usize = 16;

/// The users' tokens.
pub(crate) struct Access {
    tokens: BTreeMap<String, String>,
    /// Looked up by hash, so that timing reveals nothing about a token.
    users: BTreeMap<[u8; BYTES], UserId>,
    /// One-time codes, by hash.
    codes: Mutex<VecDeque<Code>>,
}

/// A code that can be exchanged for a user's token, once.
struct Code {
    hash: [u8; BYTES],
    user: UserId,
    made: Instant,
}

impl Access {
    /// Reads the file, and adds a token for each user who has none.
    pub(crate) fn open(file: &Path, users: &[UserId]) -> Result<Self, Failure> {
        let failed = |error: Box<dyn std::error::Error + Send + Sync>| {
            let text = format!("{} cannot be used", file.display());
            Failure::new(Exit::Other, text)
                .caused_by(error)
                .with_hint("It holds the tokens of the web page. Delete it to create new ones.")
        };
        let mut tokens: BTreeMap<String, String> = match std::fs::read(file) {
            Ok(text) => serde_json::from_slice(&text).map_err(|error| failed(error.into()))?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => BTreeMap::new(),
            Err(error) => return Err(failed(error.into())),
        };
        home::close_to_others(file).map_err(|error| failed(error.into()))?;
        let known = tokens.len();
        for user in users {
            if !tokens.contains_key(user.as_str()) {
                let token = token::fresh().map_err(|error| failed(error.into()))?;
                tokens.insert(user.to_string(), token);
            }
        }
        if tokens.len() > known {
            write(file, &tokens).map_err(|error| failed(error.into()))?;
        }
        tokens.retain(|name, _| users.iter().any(|user| user.as_str() == name));
        let users = tokens
            .iter()
            .map(|(name, token)| (hash(token), UserId::new(name.clone())))
            .collect();
        Ok(Self {
            tokens,
            users,
            codes: Mutex::default(),
        })
    }

    /// A code for a user's token.
    pub(crate) fn code(&self, user: &UserId) -> std::io::Result<String> {
        let code = token::fresh()?;
        let mut codes = self.codes.lock();
        codes.push_back(Code {
            hash: hash(&code),
            user: user.clone(),
            made: Instant::now(),
        });
        while codes.len() > MAX_CODES {
            codes.pop_front();
        }
        Ok(code)
    }

    /// The token that a code stands for. It works once, and not for long.
    pub(crate) fn redeem(&self, code: &str) -> Option<&str> {
        let hash = hash(code);
        let mut codes = self.codes.lock();
        codes.retain(|code| code.made.elapsed() < CODE_LIFETIME);
        let at = codes.iter().position(|code| code.hash == hash)?;
        let code = codes.remove(at)?;
        self.token(&code.user)
    }

    /// The token of a user.
    pub(crate) fn token(&self, user: &UserId) -> Option<&str> {
        self.tokens.get(user.as_str()).map(String::as_str)
    }

    /// Whose token this is.
    pub(crate) fn user(&self, token: &str) -> Option<&UserId> {
        self.users.get(&hash(token))
    }
}

impl fmt::Debug for Access {
    /// Without the tokens.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Access")
            .field("users", &self.tokens.len())
            .finish_non_exhaustive()
    }
}

fn hash(token: &str) -> [u8; BYTES] {
    Sha256::digest(token).into()
}

/// Replaces the file atomically, private from the start.
fn write(file: &Path, tokens: &BTreeMap<String, String>) -> std::io::Result<()> {
    let mut new = file.as_os_str().to_owned();
    new.push(".new");
    let _ = std::fs::remove_file(&new);
    let mut out = home::private().write(true).create_new(true).open(&new)?;
    out.write_all(&serde_json::to_vec_pretty(tokens)?)?;
    out.sync_all()?;
    std::fs::rename(&new, file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_stays_the_same_and_belongs_to_one_user() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("tokens.json");
        let (ann, bob) = (UserId::new("ann"), UserId::new("bob"));
        let first = Access::open(&file, std::slice::from_ref(&ann)).unwrap();
        let both = Access::open(&file, &[ann.clone(), bob.clone()]).unwrap();
        let token = first.token(&ann).unwrap();
        assert_eq!(both.token(&ann), Some(token));
        assert_eq!(both.user(token), Some(&ann));
        assert_ne!(both.token(&bob), Some(token));
        assert_eq!(both.user("guess"), None);
        let only = Access::open(&file, std::slice::from_ref(&bob)).unwrap();
        assert_eq!(only.user(token), None, "ann is not served now");
        assert!(!format!("{both:?}").contains(token));
    }

    #[test]
    fn a_code_is_exchanged_once_and_old_ones_give_way() {
        let folder = tempfile::tempdir().unwrap();
        let user = UserId::local();
        let file = folder.path().join("tokens.json");
        let access = Access::open(&file, std::slice::from_ref(&user)).unwrap();
        let token = access.token(&user).unwrap();
        let code = access.code(&user).unwrap();
        assert_ne!(code, token);
        assert_eq!(access.user(&code), None, "a code is no token");
        assert_eq!(access.redeem("guess"), None);
        assert_eq!(access.redeem(&code), Some(token));
        assert_eq!(access.redeem(&code), None);
        let first = access.code(&user).unwrap();
        for _ in 0..MAX_CODES {
            access.code(&user).unwrap();
        }
        assert_eq!(access.redeem(&first), None);
    }

    #[cfg(unix)]
    #[test]
    fn the_file_is_for_its_owner_only() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("tokens.json");
        Access::open(&file, &[UserId::local()]).unwrap();
        let mode = std::fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        // Permissions may have been widened by a copy or a backup.
        let open = std::fs::Permissions::from_mode(0o644);
        std::fs::set_permissions(&file, open).unwrap();
        Access::open(&file, &[UserId::local()]).unwrap();
        let mode = std::fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}
