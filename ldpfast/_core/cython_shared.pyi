# C functions of Cython for the other modules. No name is for Python.
