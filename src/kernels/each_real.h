/* One instruction set's share of each_isa.h: the body once, or once per real type. */
#if defined(KERNEL_REALS)
#define REAL float
#define DTYPE f32
#include KERNEL_BODY
#undef REAL
#undef DTYPE
#define REAL double
#define DTYPE f64
#include KERNEL_BODY
#undef REAL
#undef DTYPE
#else
#include KERNEL_BODY
#endif
