/* Requirements on the compiler and the machine, and all code that depends on the compiler.
 *
 * With LDP_FREESTANDING only the plain C is compiled, for any little-endian machine, with or without a C library: the client of
 * a survey is made from some of these files (clients/c).
 *
 * Kernels are plain C without Python.h, without allocation, and without global state except the instruction set in use
 * (dispatch.h). They do not check their parameters. What an invalid record does is said in privatize/kernel.h. In kernels
 * whose time is claimed to be independent of the record, no branch and no address depends on it. */
#ifndef LDP_PLATFORM_H
#define LDP_PLATFORM_H

#include <stddef.h>
#include <stdint.h>
#if __STDC_HOSTED__
#include <string.h>
#else /* there may be no header, but compilers need both functions */
#define memcpy __builtin_memcpy
#define memset __builtin_memset
#endif

#if !defined(__GNUC__)
#error "ldpfast needs GCC >= 11 or Clang >= 15 (vector extensions)"
#elif !defined(__clang__) && __GNUC__ < 11
#error "ldpfast needs GCC >= 11"
#elif defined(__clang__) && !defined(__apple_build_version__) && __clang_major__ < 15
#error "ldpfast needs Clang >= 15"
#endif
#if !defined(LDP_FREESTANDING)
#if !defined(__linux__) && !defined(__APPLE__) && !defined(_WIN64) && !defined(__wasm__)
#error "ldpfast supports Linux, macOS, Windows and WebAssembly"
#elif defined(_WIN64) && (!defined(__clang__) || !defined(__x86_64__))
#error "on Windows, ldpfast needs Clang and x86-64 (GCC does not align the stack for AVX there)"
#elif !defined(__LP64__) && !defined(_WIN64) && !defined(__wasm__)
#error "ldpfast needs a 64-bit machine, or WebAssembly, whose words have 64 bits"
#endif
#endif
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "ldpfast needs a little-endian machine"
#endif
#if __FLT_EVAL_METHOD__ != 0 && __FLT_EVAL_METHOD__ != 16
#error "ldpfast needs arithmetic on doubles that is not done in a wider type"
#endif
#if defined(__FAST_MATH__)
#error "ldpfast must not be compiled with -ffast-math: NaN checks and equal bits on every machine depend on it"
#endif

#define LDP_ALIGNED __attribute__((aligned(64)))
#define LDP_INLINE static inline __attribute__((always_inline))

#if defined(__x86_64__) && !defined(LDP_FREESTANDING)
#define LDP_X86 1
#else
#define LDP_X86 0
#endif

/* Functions between BEGIN and END may use the named instructions. They are called only after a check at run time. */
#define LDP_PRAGMA(text) _Pragma(#text)
#if defined(__clang__)
#define LDP_TARGET_BEGIN(features) LDP_PRAGMA(clang attribute push(__attribute__((target(features))), apply_to = function))
#define LDP_TARGET_END _Pragma("clang attribute pop")
#else
#define LDP_TARGET_BEGIN(features) _Pragma("GCC push_options") LDP_PRAGMA(GCC target(features))
#define LDP_TARGET_END _Pragma("GCC pop_options")
#endif

/* The 16 numbers of a vector in another order, which constants give. `indices` is a type of vectors of 16 integers. */
#if defined(__clang__)
#define LDP_SHUFFLE_16(v, indices, ...) __builtin_shufflevector(v, v, __VA_ARGS__)
#else
#define LDP_SHUFFLE_16(v, indices, ...) __builtin_shuffle(v, (indices){__VA_ARGS__})
#endif

/* Fetches the memory 2 KiB after p, which is read soon. The memory then works while the key stream is made. */
LDP_INLINE void read_soon(const void *p) { __builtin_prefetch((const void *)((uintptr_t)p + 2048)); }

/* The same for memory that is written, 4 KiB after p. */
LDP_INLINE void write_soon(void *p) { __builtin_prefetch((const void *)((uintptr_t)p + 4096), 1); }

/* Fetches memory that is used in the next microsecond. */
LDP_INLINE void fetch_to_read(const void *p, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += 64)
        __builtin_prefetch((const char *)p + i);
}

LDP_INLINE void fetch_to_write(void *p, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += 64)
        __builtin_prefetch((char *)p + i, 1);
}

#endif
