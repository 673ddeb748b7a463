//! HTTP header fields.

/// Header fields in the order received, names in lower case.
#[derive(Clone, Debug, Default)]
pub(crate) struct Headers {
    fields: Vec<(String, String)>,
}

impl Headers {
    /// Parses `Name: value` lines.
    pub(crate) fn parse<'a>(lines: impl Iterator<Item = &'a str>) -> Self {
        let fields = lines
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.trim().to_ascii_lowercase(), value.trim().to_owned()))
            .collect();
        Self { fields }
    }

    /// The first value of this name, given in lower case.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let field = self.fields.iter().find(|(known, _)| known == name);
        field.map(|(_, value)| value.as_str())
    }

    pub(crate) fn to_vec(&self) -> Vec<(String, String)> {
        self.fields.clone()
    }
}
