/* Memory-bound: one or two comparisons per number. */
#define DEFINE_CHECK(name, type)                                                       \
    static int NAME(check_##name)(const type *x, size_t n, double lower, double upper) \
    {                                                                                  \
        uint64_t missing = 0, outside = 0;                                             \
        for (size_t i = 0; i < n; i++) {                                               \
            const double v = (double)x[i];                                             \
            missing |= (uint64_t)(v != v);                                             \
            outside |= (uint64_t)(v < lower) | (uint64_t)(v > upper);                  \
        }                                                                              \
        return (missing ? MISSING : 0) | (outside ? OUTSIDE : 0);                      \
    }

#define DEFINE_CHECK_INTEGERS(name, type)                                                           \
    DEFINE_CHECK(name, type)                                                                        \
    static int NAME(check_index_##name)(const type *x, size_t n, int64_t base, uint32_t size)       \
    {                                                                                               \
        type least = x[0], most = x[0];                                                             \
        for (size_t i = 0; i < n; i++) {                                                            \
            least = x[i] < least ? x[i] : least;                                                    \
            most = x[i] > most ? x[i] : most;                                                       \
        }                                                                                           \
        return (uint64_t)least - (uint64_t)base >= size || (uint64_t)most - (uint64_t)base >= size; \
    }

DEFINE_CHECK_INTEGERS(int8, int8_t)
DEFINE_CHECK_INTEGERS(int16, int16_t)
DEFINE_CHECK_INTEGERS(int32, int32_t)
DEFINE_CHECK_INTEGERS(int64, int64_t)
DEFINE_CHECK_INTEGERS(uint8, uint8_t)
DEFINE_CHECK_INTEGERS(uint16, uint16_t)
DEFINE_CHECK_INTEGERS(uint32, uint32_t)
DEFINE_CHECK_INTEGERS(uint64, uint64_t)
DEFINE_CHECK(float, float)
DEFINE_CHECK(double, double)

#undef DEFINE_CHECK
#undef DEFINE_CHECK_INTEGERS
