//! What a provider says of a person who logged in, and the role that follows. Pure.

use serde_json::{Map, Value};

use super::OpenIdOptions;
use crate::store::TeamRole;

/// A person who logged in.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Person {
    pub(crate) subject: String,
    pub(crate) name: String,
    /// Their address, if the provider has verified it.
    pub(crate) email: Option<String>,
    /// The role that the provider's groups or the command line give; the stored one if none.
    pub(crate) role: Option<TeamRole>,
}

/// Why a person is not let in.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Unwelcome {
    /// The login was refused, or its answer is not genuine.
    Provider(String),
    /// The answer is another login's.
    Nonce,
    /// They are in no group that has a role.
    NoGroup,
}

impl Unwelcome {
    /// What the page gets: a code, never words of others.
    pub(crate) const fn code(&self) -> &'static str {
        match self {
            Self::Provider(_) => "provider",
            Self::Nonce => "state",
            Self::NoGroup => "group",
        }
    }
}

impl std::fmt::Display for Unwelcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Provider(why) => f.write_str(why),
            Self::Nonce => f.write_str("the answer belongs to another login"),
            Self::NoGroup => f.write_str("in no group that has a role"),
        }
    }
}

/// Who the verified claims are about.
pub(super) fn person(
    options: &OpenIdOptions,
    claims: &Map<String, Value>,
    nonce: &str,
) -> Result<Person, Unwelcome> {
    let text = |name: &str| claims.get(name).and_then(Value::as_str);
    if text("nonce") != Some(nonce) {
        return Err(Unwelcome::Nonce);
    }
    // Where others may use the token as well, it must have been issued to us.
    let several = claims
        .get("aud")
        .and_then(Value::as_array)
        .is_some_and(|all| all.len() > 1);
    let party = text("azp");
    if (several && party.is_none()) || party.is_some_and(|party| party != options.client_id) {
        let why = "the token was issued to another program";
        return Err(Unwelcome::Provider(why.to_owned()));
    }
    let Some(subject) = text("sub").filter(|subject| !subject.is_empty()) else {
        let why = "the token does not name its subject";
        return Err(Unwelcome::Provider(why.to_owned()));
    };
    let subject = subject.to_owned();
    let verified = claims.get("email_verified").and_then(Value::as_bool) == Some(true);
    let email = text("email").filter(|_| verified).map(str::to_lowercase);
    let is_owner = email.as_ref().is_some_and(|email| {
        let mut owners = options.owners.iter();
        owners.any(|owner| owner.eq_ignore_ascii_case(email))
    });
    let groups = groups(claims, &options.group_claim);
    let mapped = options.roles.iter();
    let mapped = mapped.filter(|(group, _)| groups.contains(&group.as_str()));
    let mapped = mapped.map(|(_, role)| *role).max();
    let role = match (is_owner, mapped) {
        (true, _) => Some(TeamRole::Owner),
        (false, Some(role)) => Some(role),
        (false, None) if options.roles.is_empty() => None,
        (false, None) => return Err(Unwelcome::NoGroup),
    };
    let name = text("name")
        .or(text("preferred_username"))
        .or(text("email"));
    let name: String = name.unwrap_or(&subject).chars().take(100).collect();
    Ok(Person {
        subject,
        name,
        email,
        role,
    })
}

/// The groups in a claim: a list, or one text. A dot leads into an object, unless the name has it.
fn groups<'c>(claims: &'c Map<String, Value>, name: &str) -> Vec<&'c str> {
    let found = claims.get(name).or_else(|| {
        let (first, rest) = name.split_once('.')?;
        let inner = claims.get(first)?;
        rest.split('.').try_fold(inner, |value, key| value.get(key))
    });
    match found {
        Some(Value::Array(all)) => all.iter().filter_map(Value::as_str).collect(),
        Some(Value::String(one)) => vec![one],
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn options(roles: &[(&str, TeamRole)]) -> OpenIdOptions {
        let mut options = OpenIdOptions::new("https://id.example", "us");
        options.roles = roles
            .iter()
            .map(|(group, role)| ((*group).to_owned(), *role))
            .collect();
        options.owners = vec!["Boss@team.example".to_owned()];
        options
    }

    fn role(options: &OpenIdOptions, claims: Value) -> Result<Option<TeamRole>, Unwelcome> {
        let mut all = json!({"sub": "1", "aud": "us", "nonce": "n"});
        all.as_object_mut()
            .unwrap()
            .extend(claims.as_object().cloned().unwrap());
        person(options, all.as_object().unwrap(), "n").map(|person| person.role)
    }

    #[test]
    fn the_highest_role_of_a_persons_groups_counts_and_no_group_is_refused() {
        let mut options = options(&[("dev", TeamRole::Member), ("ops", TeamRole::Owner)]);
        let of = |options: &OpenIdOptions, groups: Value| role(options, json!({"groups": groups}));
        assert_eq!(
            of(&options, json!(["dev", "x"])),
            Ok(Some(TeamRole::Member))
        );
        assert_eq!(
            of(&options, json!(["dev", "ops"])),
            Ok(Some(TeamRole::Owner))
        );
        assert_eq!(of(&options, json!("dev")), Ok(Some(TeamRole::Member)));
        assert_eq!(of(&options, json!(["devs"])), Err(Unwelcome::NoGroup));
        assert_eq!(role(&options, json!({})), Err(Unwelcome::NoGroup));
        options.group_claim = "realm.roles".to_owned();
        let nested = json!({"realm": {"roles": ["ops"]}});
        assert_eq!(role(&options, nested), Ok(Some(TeamRole::Owner)));
        assert_eq!(role(&self::options(&[]), json!({})), Ok(None));
    }

    #[test]
    fn an_owner_is_known_by_a_verified_address_only() {
        let options = options(&[]);
        let verified = json!({"email": "boss@team.example", "email_verified": true});
        assert_eq!(role(&options, verified), Ok(Some(TeamRole::Owner)));
        for claims in [
            json!({"email": "boss@team.example", "email_verified": false}),
            json!({"email": "boss@team.example"}),
            json!({"email": "boss@team.example", "email_verified": "true"}),
        ] {
            assert_eq!(role(&options, claims.clone()), Ok(None), "{claims}");
        }
    }

    #[test]
    fn a_token_of_another_login_or_for_another_program_is_refused() {
        let options = options(&[]);
        assert_eq!(role(&options, json!({"nonce": "m"})), Err(Unwelcome::Nonce));
        assert_eq!(
            role(&options, json!({"nonce": null})),
            Err(Unwelcome::Nonce)
        );
        for claims in [
            json!({"aud": ["us", "them"]}),
            json!({"aud": ["us", "them"], "azp": "them"}),
            json!({"azp": "them"}),
        ] {
            let refused = role(&options, claims.clone());
            assert!(matches!(refused, Err(Unwelcome::Provider(_))), "{claims}");
        }
        assert!(role(&options, json!({"aud": ["us", "them"], "azp": "us"})).is_ok());
    }
}
