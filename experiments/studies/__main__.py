"""``python -m experiments.studies`` is ``ldpfast reproduce``, for an ldpfast that is built in the checkout."""

import sys

from ldpfast.cli import main

if __name__ == "__main__":
    sys.exit(main(["reproduce", *sys.argv[1:]]))
