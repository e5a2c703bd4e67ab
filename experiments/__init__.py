"""What the repository computes with the library: experiments of the papers, the demonstration, and tables of the documentation.

None of it is in the installed package. In a checkout, ``ldpfast demo`` and ``ldpfast reproduce`` run `demo` and `studies`; the
other modules are programs, such as ``python experiments/coverage_table.py``.
"""
