/* Undefines the macros of isa_<name>.h. */
#undef ISA
#undef V_BYTES
#undef CHACHA_WAYS
#undef ROTATE16
#undef ROTATE8
