/* The part of each_isa.h for one instruction set: the body once, or once per real type. */
#if defined(KERNEL_REALS)
#define REAL float
#define DTYPE f32
#define FLUSH flush_f32
#define LIMIT limit_f32
#define CLAMP clamp_f32
#define UNLESS_NAN unless_nan_f32
#include KERNEL_BODY
#undef REAL
#undef DTYPE
#undef FLUSH
#undef LIMIT
#undef CLAMP
#undef UNLESS_NAN
#define REAL double
#define DTYPE f64
#define FLUSH flush_f64
#define LIMIT limit_f64
#define CLAMP clamp_f64
#define UNLESS_NAN unless_nan_f64
#include KERNEL_BODY
#undef REAL
#undef DTYPE
#undef FLUSH
#undef LIMIT
#undef CLAMP
#undef UNLESS_NAN
#else
#define REAL double
#include KERNEL_BODY
#undef REAL
#endif
