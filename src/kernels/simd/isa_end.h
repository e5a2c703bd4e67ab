/* Undefines the macros of isa_<name>.h. */
#undef ISA
#undef V_BYTES
