/* Arithmetic of private gradient descent for generalised linear models: rows, steps, running sums. docs/proofs/descent.md.
 *
 * Vectors have room for `padded` numbers, a multiple of 32, zeros from `dim` on: no loop has a remainder, and sums go to
 * 16 accumulators whatever the vector width. The last of the `dim` numbers is the intercept's column where there is one. */
#ifndef LDP_DESCENT_H
#define LDP_DESCENT_H

#include "platform.h"

enum { DESCENT_PAD = 32 };
enum family { LOGISTIC = 0, LINEAR = 1, POISSON = 2 };

typedef struct {
    size_t features, dim, padded;
    double radius;     /* rows are clipped to this l2 norm, or (max_norm) to this in each coordinate */
    double column;     /* the value in the intercept's column; 0: there is none */
    double residual;   /* residuals are clipped to this; infinite where they are bounded by themselves */
    double projection; /* positions are kept within this Euclidean norm */
    int family, max_norm;
} descent;

/* n people's rows, those of x or (`index`) some of them: clipped, with the intercept's column, padded, floats. The time tells
 * who had to be clipped, and that of `exp` in the slope may tell more: nothing is claimed about the time of gradients. */
void descent_rows_f32(const descent *p, const float *x, const int64_t *index, size_t n, float *rows);
void descent_rows_f64(const descent *p, const double *x, const int64_t *index, size_t n, float *rows);

/* The gradient of the negative log-likelihood of one person is this number times the row. */
double descent_slope(const descent *p, const double *position, const float *row, double y);

/* moved = position - factor * report, projected. */
void descent_move_f32(const descent *p, const double *position, const float *report, double factor, double *moved);
void descent_move_f64(const descent *p, const double *position, const double *report, double factor, double *moved);

/* Running sums over the positions of a segment, each of `padded` numbers: S (their sum so far), sum of S, of S^2, of s S with s
 * the number of positions so far. Adds n positions, one after the other in memory, after `size` others. */
enum { DESCENT_SUMS = 4 };
void descent_add(const descent *p, const double *positions, size_t n, double size, double *sums);

/* matrix (dim x dim) += S S^T. */
void descent_square(const descent *p, const double *sums, double *matrix);

#endif
