//! Which language: of a variable, the setting, or the locale.

use super::catalog::Catalog;

/// The key of the setting.
pub(crate) const SETTING: &str = "language";
/// The variable that is stronger than the setting.
const VARIABLE: &str = "SWITCHBOARD_LANGUAGE";

/// Whether this can be set: a language that there is, or `auto` for the locale's.
pub(crate) fn is_language(name: &str) -> bool {
    matches!(name, "auto" | "en") || Catalog::languages().any(|language| language == name)
}

/// The language, if it is not English. `setting` is looked up only if nothing stronger decides.
pub(crate) fn choose(
    environment: &dyn Fn(&str) -> Option<String>,
    setting: impl FnOnce() -> Option<String>,
) -> Option<&'static str> {
    let chosen = environment(VARIABLE).or_else(setting);
    if let Some(chosen) = chosen.filter(|chosen| chosen != "auto") {
        return spoken(&chosen);
    }
    let mut locale = ["LC_ALL", "LC_MESSAGES", "LANG"].into_iter();
    spoken(&locale.find_map(environment)?)
}

/// The catalogue for a locale, as in `zh_CN.UTF-8`: of its language and region, else of its
/// language.
fn spoken(locale: &str) -> Option<&'static str> {
    let name = locale.split(['.', '@']).next()?.replace('_', "-");
    let exact = Catalog::languages().find(|language| language.eq_ignore_ascii_case(&name));
    exact.or_else(|| {
        // Another script is another language to its readers.
        let traditional = ["TW", "HK", "MO", "Hant"];
        if traditional.iter().any(|it| name.contains(it)) {
            return None;
        }
        let language = name.split('-').next()?;
        Catalog::languages().find(|known| known.split('-').next() == Some(language))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_is_stronger_than_the_setting_and_that_than_the_locale() {
        let check = |set: &[(&str, &str)], setting: Option<&str>, want: Option<&str>| {
            let environment = |name: &str| {
                let found = set.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| (*value).to_owned())
            };
            let setting = setting.map(str::to_owned);
            assert_eq!(choose(&environment, || setting), want, "{set:?}");
        };
        check(&[("LANG", "zh_CN.UTF-8")], None, Some("zh-CN"));
        check(&[("LANG", "zh")], None, Some("zh-CN"));
        check(&[("LANG", "zh_SG")], None, Some("zh-CN"));
        check(&[("LANG", "zh_TW.UTF-8")], None, None);
        check(&[("LANG", "C.UTF-8")], None, None);
        check(&[("LANG", "zh_CN.UTF-8"), ("LC_ALL", "C")], None, None);
        check(
            &[("LANG", "en_GB"), ("LC_MESSAGES", "zh_CN")],
            None,
            Some("zh-CN"),
        );
        check(&[("LANG", "en_GB")], Some("zh-CN"), Some("zh-CN"));
        check(&[("LANG", "zh_CN")], Some("en"), None);
        check(&[("LANG", "zh_CN")], Some("auto"), Some("zh-CN"));
        check(&[("SWITCHBOARD_LANGUAGE", "en")], Some("zh-CN"), None);
        check(&[], None, None);
    }
}
