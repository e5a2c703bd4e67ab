/* Forgets what isa_<name>.h defined. */
#undef ISA
#undef V_BYTES
#undef CHACHA_WAYS
#undef ROTATE16
#undef ROTATE8
