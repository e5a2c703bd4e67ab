/* One instruction set's share of each_isa.h: the body once, or once per real type. */
#if defined(KERNEL_REALS)
#define REAL float
#define DTYPE f32
#define TAME tame_f32
#include KERNEL_BODY
#undef REAL
#undef DTYPE
#undef TAME
#define REAL double
#define DTYPE f64
#define TAME tame_f64
#include KERNEL_BODY
#undef REAL
#undef DTYPE
#undef TAME
#else
#include KERNEL_BODY
#endif
