#include "tally/frames.h"

#include "simd/branchless.h"

#define KERNEL_REALS
#define KERNEL_BODY "tally/frames_body.h"
#include "simd/each_isa.h"

/* Up to MAX_DIRECTION numbers from number `first` on of the vector of a report. */
static void expand_part(const frame_format *p, stream_key *key, const uint64_t *report, size_t first, size_t now, float *v)
{
    LDP_BEST(expand_part_f32)(p, key, report, first, now, v);
}

void expand_frames(const frame_format *p, const uint64_t *reports, size_t n, float *rows)
{
    const size_t dim = p->frame.dim;
    stream_key key;
    directions_open(&key);
    for (size_t i = 0; i < n; i++)
        for (size_t first = 0; first < dim; first += MAX_DIRECTION) {
            const size_t now = dim - first < MAX_DIRECTION ? dim - first : MAX_DIRECTION;
            expand_part(p, &key, reports + i * (sign_words(&p->frame) + 1), first, now, rows + i * dim + first);
        }
}

void tally_frames(const void *format, const void *reports, size_t n, void *state)
{
    const frame_format *p = format;
    const size_t dim = p->frame.dim;
    float v[MAX_DIRECTION] LDP_ALIGNED;
    stream_key key;
    directions_open(&key);
    for (size_t i = 0; i < n; i++)
        for (size_t first = 0; first < dim; first += MAX_DIRECTION) {
            const size_t now = dim - first < MAX_DIRECTION ? dim - first : MAX_DIRECTION;
            expand_part(p, &key, (const uint64_t *)reports + i * (sign_words(&p->frame) + 1), first, now, v);
            tally_with_squares(now, p->bound, v, 1, (uint64_t *)state + 2 * first, (uint64_t *)state + 2 * (dim + first));
        }
}
