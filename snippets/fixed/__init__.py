"""The same accessors, put right."""
