/* The part of each_isa.h for one instruction set: the body once, or once per real type. */
#if defined(KERNEL_REALS)
#define REAL float
#define REAL_BITS uint32_t
#define REAL_IS_DOUBLE 0
#define DTYPE f32
#include KERNEL_BODY
#undef REAL
#undef REAL_BITS
#undef REAL_IS_DOUBLE
#undef DTYPE
#define REAL double
#define REAL_BITS uint64_t
#define REAL_IS_DOUBLE 1
#define DTYPE f64
#include KERNEL_BODY
#undef REAL
#undef REAL_BITS
#undef REAL_IS_DOUBLE
#undef DTYPE
#else
#define REAL double
#define REAL_IS_DOUBLE 1
#include KERNEL_BODY
#undef REAL
#undef REAL_IS_DOUBLE
#endif
