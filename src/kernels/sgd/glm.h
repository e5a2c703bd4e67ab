/* Arithmetic of private gradient descent for generalized linear models: rows, steps, running sums. docs/proofs/gradient.md.
 *
 * Vectors have room for `padded` numbers, a multiple of 32, with zeros from `dim` on, so that no loop has a remainder. The last of
 * the `dim` numbers is the intercept's column where there is one. */
#ifndef LDP_GLM_H
#define LDP_GLM_H

#include "simd/platform.h"

enum { GLM_PAD = 32 };
enum family { LOGISTIC = 0, LINEAR = 1, POISSON = 2 };

typedef struct {
    size_t features, dim, padded;
    double radius;     /* rows are clipped to this l2 norm, or (max_norm) to this in each coordinate */
    double column;     /* the value in the intercept's column; 0: there is none */
    double residual;   /* residuals are clipped to this; infinite where they are bounded anyway */
    double projection; /* positions are kept within this Euclidean norm */
    int family, max_norm;
} glm;

/* Writes the rows of n people, all of x or (`index`) some of them: clipped, with the intercept's column, padded, as floats. The time
 * reveals whose row was clipped, and that of `exp` in the slope may reveal more: nothing is claimed about the time of gradients. */
void glm_rows_f32(const glm *p, const float *x, const int64_t *index, size_t n, float *rows);
void glm_rows_f64(const glm *p, const double *x, const int64_t *index, size_t n, float *rows);

/* The gradient of the negative log-likelihood of one person is this number times the row. */
double glm_slope(const glm *p, const double *position, const float *row, double y);

/* moved = position - factor * report, projected. */
void glm_move_f32(const glm *p, const double *position, const float *report, double factor, double *moved);
void glm_move_f64(const glm *p, const double *position, const double *report, double factor, double *moved);

/* Running sums over the positions of a segment, each of `padded` numbers: S (their sum so far), sum of S, of S^2, of s S with s
 * the number of positions so far. Adds n positions, consecutive in memory, to those of `size` others. */
enum { GLM_SUMS = 4 };
void glm_add(const glm *p, const double *positions, size_t n, double size, double *sums);

/* matrix (dim x dim) += S S^T. */
void glm_square(const glm *p, const double *sums, double *matrix);

#endif
