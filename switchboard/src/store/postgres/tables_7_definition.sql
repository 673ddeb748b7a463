-- The whole definition that was approved, as JSON: what a change is shown against.
ALTER TABLE approved_definitions ADD COLUMN definition TEXT;
