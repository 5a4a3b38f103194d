"""The sentences of every claim, one file a version and a language: `4.en.toml` says what the keys of format 4 say, for good."""
