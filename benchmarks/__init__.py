"""Speed against what a user would pick instead: see README.md."""
