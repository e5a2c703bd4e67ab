"""Speed compared with other libraries. See README.md."""
