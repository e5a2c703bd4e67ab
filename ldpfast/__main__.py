"""Entry point of ``python -m ldpfast``."""

import sys

if __name__ == "__main__":
    try:
        from .cli import main
    except ImportError as error:
        sys.exit(
            f"ldpfast: error: {error}\nIn a source tree the compiled modules are missing: leave the directory, use the command "
            "`ldpfast`, or install with `pip install -e .`"
        )
    sys.exit(main())
