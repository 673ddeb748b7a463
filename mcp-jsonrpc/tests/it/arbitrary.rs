//! Arbitrary values of the model, as a revision lets them be: each from a seed.

pub(crate) mod client_side;
pub(crate) mod content;
pub(crate) mod lifecycle;
pub(crate) mod message;
pub(crate) mod server_side;
pub(crate) mod task;

use mcp_jsonrpc::model::Meta;
use mcp_jsonrpc::{OrderedMap, RawJson, RawMap, RawObject, RequestId, Revision};
use serde_json::{Map, Value};

/// A source of arbitrary values for one revision.
pub(crate) struct Gen {
    state: u64,
    pub(crate) revision: Revision,
    /// Whether objects may have members no one knows.
    pub(crate) strange: bool,
}

impl Gen {
    pub(crate) fn new(seed: u64, revision: Revision) -> Self {
        Self {
            state: seed,
            revision,
            strange: true,
        }
    }

    /// A number below `bound`.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        // SplitMix64: small, and every seed is as good as another.
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % bound
    }

    pub(crate) fn bool(&mut self) -> bool {
        self.below(2) == 1
    }

    pub(crate) fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        let at = self.below(from.len() as u64) as usize;
        from[at].clone()
    }

    pub(crate) fn maybe<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
        self.bool().then(|| make(self))
    }

    /// As [`maybe`](Self::maybe), but never where the revision does not have it.
    pub(crate) fn maybe_if<T>(
        &mut self,
        has: impl FnOnce(Revision) -> bool,
        make: impl FnOnce(&mut Self) -> T,
    ) -> Option<T> {
        if has(self.revision) {
            self.maybe(make)
        } else {
            None
        }
    }

    /// What a revision demands, and the others do not have.
    pub(crate) fn always_if<T>(
        &mut self,
        has: impl FnOnce(Revision) -> bool,
        make: impl FnOnce(&mut Self) -> T,
    ) -> Option<T> {
        if has(self.revision) {
            Some(make(self))
        } else {
            None
        }
    }

    pub(crate) fn list<T>(&mut self, mut make: impl FnMut(&mut Self) -> T) -> Vec<T> {
        (0..self.below(4)).map(|_| make(self)).collect()
    }

    pub(crate) fn map<T>(&mut self, mut make: impl FnMut(&mut Self) -> T) -> OrderedMap<T> {
        (0..self.below(4))
            .map(|_| (self.name(), make(self)))
            .collect()
    }

    /// Text of every kind: empty, escaped, beyond the basic plane, longer than a block.
    pub(crate) fn text(&mut self) -> String {
        let parts = [
            "",
            "a",
            "plain words",
            "\"",
            "\\",
            "\n",
            "\r\n",
            "\t",
            "\u{0}",
            "\u{1f}",
            "\u{7f}",
            "/",
            "\u{e9}",
            "\u{4f60}\u{597d}",
            "\u{1f600}",
            "\u{2028}",
            "\u{feff}",
            "\u{fffd}",
            "{[,:]}",
            "a long run of text that needs more than one block of sixty-four bytes to be scanned",
        ];
        (0..self.below(6)).map(|_| self.pick(&parts)).collect()
    }

    pub(crate) fn name(&mut self) -> String {
        format!(
            "{}{}",
            self.pick(&["alpha", "beta", "com.example/x", "a b", "\u{e9}"]),
            self.below(9)
        )
    }

    pub(crate) fn uri(&mut self) -> String {
        let scheme = self.pick(&["file:///", "https://example.com/", "skill://s/"]);
        format!("{scheme}{}", self.pick(&["a", "b/c", "d%20e?x=1#f"]))
    }

    pub(crate) fn date(&mut self) -> String {
        format!("2026-0{}-1{}T12:00:00Z", 1 + self.below(9), self.below(10))
    }

    pub(crate) fn base64(&mut self) -> String {
        self.pick(&["", "AA==", "SGVsbG8="]).to_owned()
    }

    pub(crate) fn mime(&mut self) -> String {
        self.pick(&["text/plain", "image/png", "text/html;profile=mcp-app"])
            .to_owned()
    }

    /// A whole number, not negative.
    pub(crate) fn size(&mut self) -> i64 {
        self.pick(&[0, 1, 42, 60_000, (1 << 53) - 1])
    }

    pub(crate) fn float(&mut self) -> f64 {
        self.pick(&[0.0, 1.0, -1.0, 0.1, 50.0, 1e-7, -2.5e10, 1e300, 123_456.789])
    }

    /// From 0 to 1.
    pub(crate) fn share(&mut self) -> f64 {
        self.pick(&[0.0, 0.3, 0.5, 1.0])
    }

    pub(crate) fn id(&mut self) -> RequestId {
        match self.below(4) {
            0 => RequestId::from(self.text()),
            1 => RequestId::from(i64::MAX),
            2 => RequestId::from(-7),
            _ => RequestId::from(self.below(1000) as i64),
        }
    }

    pub(crate) fn value(&mut self) -> Value {
        self.nested(3)
    }

    fn nested(&mut self, levels: u64) -> Value {
        match self.below(if levels == 0 { 5 } else { 7 }) {
            0 => Value::Null,
            1 => self.bool().into(),
            2 => self.size().into(),
            3 => self.float().into(),
            4 => self.text().into(),
            5 => self.list(|g| g.nested(levels - 1)).into(),
            _ => self.object_of(|g| g.nested(levels - 1)).into(),
        }
    }

    fn object_of(&mut self, mut make: impl FnMut(&mut Self) -> Value) -> Map<String, Value> {
        (0..self.below(4))
            .map(|_| (self.name(), make(self)))
            .collect()
    }

    pub(crate) fn object(&mut self) -> Map<String, Value> {
        self.object_of(Self::value)
    }

    pub(crate) fn raw(&mut self) -> RawJson {
        RawJson::from_serialize(&self.value()).unwrap()
    }

    pub(crate) fn raw_object(&mut self) -> RawObject {
        RawObject::from_serialize(&self.object()).unwrap()
    }

    /// An object of what the official schemas let stand in a `JSONObject`: neither null nor
    /// fractions.
    pub(crate) fn tame_object(&mut self) -> RawObject {
        let members = self.object_of(Self::tame);
        RawObject::from_serialize(&members).unwrap()
    }

    fn tame(&mut self) -> Value {
        match self.below(5) {
            0 => self.bool().into(),
            1 => self.size().into(),
            2 => self.text().into(),
            3 => self.list(|g| Value::from(g.size())).into(),
            _ => self.object_of(|g| g.text().into()).into(),
        }
    }

    /// Members no one knows; their names begin with `x-`.
    pub(crate) fn extra(&mut self) -> RawMap {
        let some = if self.strange { self.below(3) } else { 0 };
        let member = |n| {
            (
                format!("x-{n}"),
                RawJson::from_serialize(&self.tame()).unwrap(),
            )
        };
        (0..some).map(member).collect()
    }

    /// `_meta` without a key the protocol reserves.
    pub(crate) fn meta(&mut self) -> Meta {
        self.map(Self::raw).into()
    }

    /// `_meta` where only later revisions have it.
    pub(crate) fn object_meta(&mut self) -> Option<Meta> {
        self.maybe_if(Revision::has_meta_on_objects, Self::meta)
    }
}

/// Makes a value by its constructor and sets its optional members:
/// `made!(g, Tool::new(..), { title: g.maybe(..), .. })`. `extra` is always set.
macro_rules! made {
    ($g:ident, $new:expr $(, { $($field:ident: $value:expr),* $(,)? })?) => {{
        let mut made = $new;
        $($(made.$field = $value;)*)?
        made.extra = $g.extra();
        made
    }};
}
pub(crate) use made;
