/* Arithmetic of private gradient descent for generalized linear models: rows, steps, running sums. docs/proofs/gradient.md.
 *
 * Vectors have room for `padded` numbers, a multiple of 32, with zeros from `dim` on, so that no loop has a remainder. The
 * intercept's column, if there is one, is the last of the `dim` numbers. */
#ifndef LDP_GLM_H
#define LDP_GLM_H

#include "simd/platform.h"

enum { GLM_PAD = 32 };
enum family { LOGISTIC = 0, LINEAR = 1, POISSON = 2 };

typedef struct {
    size_t features, dim, padded;
    double radius;     /* bound of the l2 norm of rows or, with max_norm, of each coordinate; rows are clipped to it */
    double column;     /* value in the intercept's column; 0: no intercept */
    double residual;   /* bound of residuals, which are clipped to it; infinity: no clipping */
    double projection; /* bound of the Euclidean norm of positions, which are projected on this ball */
    int family, max_norm;
} glm;

/* Writes the rows of n people as floats: clipped, with the intercept's column, padded; and, unless `max_norm`, the sums of their
 * squares. `index` selects the rows of x; NULL selects all. Returns nonzero if a number is not finite. Resistance to timing
 * attacks is not claimed for gradients, because the time depends on which rows are clipped and may depend on the argument of
 * `exp` in the slope. */
int glm_rows_f32(const glm *p, const float *x, const int64_t *index, size_t n, float *rows, float *squares);
int glm_rows_f64(const glm *p, const double *x, const int64_t *index, size_t n, float *rows, float *squares);

/* Returns nonzero if a response is not one of the family: 0 or 1, a finite number, or a finite number >= 0. */
int glm_responses(const glm *p, const double *y, size_t n);

/* Factor of the row in the gradient of one person's negative log-likelihood. */
double glm_slope(const glm *p, const double *position, const float *row, double y);

/* moved = position - factor * report, projected. */
void glm_move(const glm *p, const double *position, const double *report, double factor, double *moved);

/* Steps of n people whose reports have the directions d_i. The step of person i depends on z = <position, row> by a sign: it is
 * position -= size[i] d_i if z is above one or all three of the limits, and position += size[i] d_i otherwise. */
typedef struct {
    double *size, *low, *middle, *high;
} glm_steps;

/* Writes the limits of n people with the responses y. The sign is that of the slope, reversed if |slope| <= level[i]; level[i]
 * < 0 stands for 0. */
void glm_limits(const glm *p, const double *y, const double *level, size_t n, const glm_steps *steps);

/* positions[i + 1] is the position after the step of person i from positions[i]. Fetches `next_size` bytes per person of the
 * memory at `next`, which is read soon. */
void glm_descend(const glm *p, const glm_steps *steps, const float *rows, const float *directions, size_t n, double *positions,
                 const void *next, size_t next_size);

/* Adds n positions, consecutive in memory, to the running sums of a segment with `size` positions. With s the number of
 * positions so far and S their sum, the four sums of `padded` numbers each are S, sum of S, sum of S^2 and sum of s S. */
enum { GLM_SUMS = 4 };
void glm_add(const glm *p, const double *positions, size_t n, double size, double *sums);

/* matrix (dim x dim) += S S^T. */
void glm_square(const glm *p, const double *sums, double *matrix);

#endif
