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

/* Writes the rows of n people as floats: clipped, with the intercept's column, padded. `index` selects the rows of x; NULL
 * selects all. Resistance to timing attacks is not claimed for gradients, because the time depends on which rows are clipped
 * and may depend on the argument of `exp` in the slope. */
void glm_rows_f32(const glm *p, const float *x, const int64_t *index, size_t n, float *rows);
void glm_rows_f64(const glm *p, const double *x, const int64_t *index, size_t n, float *rows);

/* Factor of the row in the gradient of one person's negative log-likelihood. */
double glm_slope(const glm *p, const double *position, const float *row, double y);

/* moved = position - factor * report, projected. */
void glm_move_f32(const glm *p, const double *position, const float *report, double factor, double *moved);
void glm_move_f64(const glm *p, const double *position, const double *report, double factor, double *moved);

/* Adds n positions, consecutive in memory, to the running sums of a segment with `size` positions. With s the number of
 * positions so far and S their sum, the four sums of `padded` numbers each are S, sum of S, sum of S^2 and sum of s S. */
enum { GLM_SUMS = 4 };
void glm_add(const glm *p, const double *positions, size_t n, double size, double *sums);

/* matrix (dim x dim) += S S^T. */
void glm_square(const glm *p, const double *sums, double *matrix);

#endif
