//! The laws, on generated schemas.

use proptest::prelude::*;
use tool_schema::Target;

use crate::{generate::schemas, laws::check_laws};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(250))]

    #[test]
    fn the_laws_hold_for_generated_schemas(schema in schemas(), seed in any::<u64>()) {
        for target in Target::ALL {
            if let Err(failure) = check_laws(&schema, target, seed, 6) {
                prop_assert!(false, "{failure}");
            }
        }
    }
}
