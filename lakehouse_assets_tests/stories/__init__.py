"""Pages and records of stories."""
