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
    /// Their address is of no domain that may log in.
    Domain,
}

impl Unwelcome {
    /// What the page gets: a code, never words of others.
    pub(crate) const fn code(&self) -> &'static str {
        match self {
            Self::Provider(_) => "provider",
            Self::Nonce => "state",
            Self::NoGroup => "group",
            Self::Domain => "domain",
        }
    }
}

impl std::fmt::Display for Unwelcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Provider(why) => f.write_str(why),
            Self::Nonce => f.write_str("the answer belongs to another login"),
            Self::NoGroup => f.write_str("in no group that has a role"),
            Self::Domain => f.write_str("with no verified address of a domain that may log in"),
        }
    }
}

/// Whether verified claims are those of this login, and for this program.
pub(super) fn check(
    options: &OpenIdOptions,
    claims: &Map<String, Value>,
    nonce: &str,
) -> Result<(), Unwelcome> {
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
    Ok(())
}

/// Whether the provider has to be asked for more: many put next to nothing into their ID tokens.
pub(super) fn lack(options: &OpenIdOptions, claims: &Map<String, Value>) -> bool {
    let wants_groups = !options.roles.is_empty();
    !claims.contains_key("email") || (wants_groups && found(claims, &options.group_claim).is_none())
}

/// Adds what the provider says of the same person elsewhere. What was signed stays, and an address
/// comes with whether it was verified.
pub(super) fn complete(
    claims: &mut Map<String, Value>,
    mut more: Map<String, Value>,
    options: &OpenIdOptions,
) -> Result<(), Unwelcome> {
    if more.get("sub") != claims.get("sub") {
        let why = "what the provider says of the person is about another one";
        return Err(Unwelcome::Provider(why.to_owned()));
    }
    let mut wanted = vec!["name", "preferred_username"];
    if !claims.contains_key("email") {
        claims.remove("email_verified");
        wanted.extend(["email", "email_verified"]);
    }
    if found(claims, &options.group_claim).is_none() {
        let root = options.group_claim.split('.').next();
        wanted.extend(match more.contains_key(&options.group_claim) {
            true => Some(options.group_claim.as_str()),
            false => root,
        });
    }
    for name in wanted {
        if let Some(value) = more.remove(name) {
            claims.entry(name).or_insert(value);
        }
    }
    Ok(())
}

/// Who the claims are about.
pub(super) fn person(
    options: &OpenIdOptions,
    claims: &Map<String, Value>,
) -> Result<Person, Unwelcome> {
    let text = |name: &str| claims.get(name).and_then(Value::as_str);
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
    let domain = email.as_ref().and_then(|email| email.rsplit_once('@'));
    let admitted = domain.is_some_and(|(_, domain)| {
        let mut domains = options.domains.iter();
        domains.any(|it| it.eq_ignore_ascii_case(domain))
    });
    if !options.domains.is_empty() && !admitted && !is_owner {
        return Err(Unwelcome::Domain);
    }
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
    match found(claims, name) {
        Some(Value::Array(all)) => all.iter().filter_map(Value::as_str).collect(),
        Some(Value::String(one)) => vec![one],
        _ => Vec::new(),
    }
}

/// A claim by its name, or by its place in objects.
fn found<'c>(claims: &'c Map<String, Value>, name: &str) -> Option<&'c Value> {
    claims.get(name).or_else(|| {
        let (first, rest) = name.split_once('.')?;
        let inner = claims.get(first)?;
        rest.split('.').try_fold(inner, |value, key| value.get(key))
    })
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
        let all = all.as_object().unwrap();
        check(options, all, "n")?;
        person(options, all).map(|person| person.role)
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

    #[test]
    fn what_the_provider_says_elsewhere_is_added_to_what_it_signed_and_replaces_nothing() {
        let options = options(&[("dev", TeamRole::Member)]);
        let object = |value: Value| value.as_object().cloned().unwrap();
        let signed = object(json!({"sub": "1", "name": "Ann"}));
        assert!(lack(&options, &signed));
        let mut claims = signed.clone();
        let more = json!({
            "sub": "1", "name": "Eve", "email": "ann@team.example", "email_verified": true,
            "groups": ["dev"], "aud": "them", "nonce": "other",
        });
        complete(&mut claims, object(more), &options).unwrap();
        let wanted = json!({
            "sub": "1", "name": "Ann", "email": "ann@team.example", "email_verified": true,
            "groups": ["dev"],
        });
        assert_eq!(Value::Object(claims.clone()), wanted);
        assert!(!lack(&options, &claims));
        // An address that was signed is not verified by what is said of another one.
        let mut claims = object(json!({"sub": "1", "email": "boss@team.example"}));
        let other = json!({"sub": "1", "email": "eve@team.example", "email_verified": true});
        complete(&mut claims, object(other), &options).unwrap();
        assert_eq!(claims.get("email_verified"), None);
        let mut claims = signed;
        let stranger = object(json!({"sub": "2", "email": "boss@team.example"}));
        let refused = complete(&mut claims, stranger, &options);
        assert!(matches!(refused, Err(Unwelcome::Provider(_))));
        let mut options = options;
        options.group_claim = "realm.roles".to_owned();
        let mut claims = object(json!({"sub": "1", "email": "a@b"}));
        let more = object(json!({"sub": "1", "realm": {"roles": ["dev"]}}));
        complete(&mut claims, more, &options).unwrap();
        assert_eq!(groups(&claims, &options.group_claim), ["dev"]);
    }

    #[test]
    fn with_domains_a_verified_address_of_one_of_them_is_needed() {
        let mut options = options(&[]);
        options.domains = vec!["Other.example".to_owned()];
        let of = |email: &str, verified: bool| {
            role(
                &options,
                json!({"email": email, "email_verified": verified}),
            )
        };
        assert_eq!(of("ann@OTHER.example", true), Ok(None));
        for (email, verified) in [
            ("ann@other.example", false),
            ("ann@evil-other.example", true),
            ("ann@other.example@evil.example", true),
            ("ann", true),
        ] {
            assert_eq!(of(email, verified), Err(Unwelcome::Domain), "{email}");
        }
        let owner = of("boss@team.example", true);
        assert_eq!(owner, Ok(Some(TeamRole::Owner)), "owners are named");
    }

    #[test]
    fn a_provider_at_which_anyone_has_an_account_needs_a_bound() {
        let warned = |issuer: &str| OpenIdOptions::new(issuer, "us").warning().is_some();
        assert!(warned("https://accounts.google.com"));
        assert!(warned("https://login.microsoftonline.com/common/v2.0"));
        let tenant = "https://login.microsoftonline.com/72f988bf-86f1-41af-91ab-2d7cd011db47/v2.0";
        assert!(!warned(tenant) && !warned("https://id.team.example"));
        let mut bound = OpenIdOptions::new("https://accounts.google.com", "us");
        bound.domains = vec!["team.example".to_owned()];
        assert_eq!(bound.warning(), None);
    }
}
