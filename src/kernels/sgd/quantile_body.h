/* Bottleneck: the dependency chain from one position to the next: addition, clamp and choice. Both candidates are computed
 * before the comparison finishes. A step up can only pass the upper end and a step down only the lower end, so each has one
 * clamp. Values that do not depend on the position (rates, coins) are computed before the chain, in vectors. */

/* The chain. With `same`, all people have the steps up[0] and down[0]. */
LDP_INLINE void NAME(walk)(const quantile_sgd *p, const double *value, const uint64_t *flip, const double *up,
                           const double *down, int same, size_t n, quantile_state *state)
{
    pair at = {state->position, state->position};
    const pair lower = {p->lower, p->lower}, upper = {p->upper, p->upper};
    const pair origin = {state->origin, state->origin}, one = {1, 1};
    pair low = {state->moments[0], state->moments[1]}, high = {state->moments[2], state->moments[3]};
    pair ones = {state->ones[1], state->ones[2]}, yes = {state->ones[0], 0};
    for (size_t i = 0; i < n; i++) {
        const pair v = {value[i], value[i]}, a = {up[same ? 0 : i], up[same ? 0 : i]},
                   b = {down[same ? 0 : i], down[same ? 0 : i]};
        const pair_mask l = {(int64_t)flip[i], (int64_t)flip[i]};
        const pair_mask bit = (pair_mask)(v >= at) ^ l;
        const pair above = PER_ISA(pair_min)(at + a, upper), below = PER_ISA(pair_max)(at + b, lower);
        const pair u = at - origin, square = u * u, powers = {u[0], square[0]};
        low += powers;
        high += powers * square;
        ones += (pair)((pair_mask)powers & bit);
        yes += (pair)((pair_mask)one & bit);
        at = PER_ISA(pair_choose)(bit, above, below);
    }
    *state = (quantile_state){
        at[0], state->count + (double)n, state->origin, {low[0], low[1], high[0], high[1]}, {yes[0], ones[0], ones[1]}};
}

/* At most QUANTILE_PIECE people. */
static void NAME(piece)(const quantile_sgd *p, const void *words, const REAL *x, size_t n, quantile_state *state)
{
    double value[QUANTILE_PIECE], up[QUANTILE_PIECE], down[QUANTILE_PIECE];
    uint64_t flip[QUANTILE_PIECE];
    const double first = state->count + 1, up_step = p->up, down_step = p->down;
    const uint64_t keep = p->keep, *word = words;
    const uint32_t keep32 = (uint32_t)p->keep, *word32 = words;
    for (size_t i = 0; i < n; i++) /* vector loop */
        value[i] = (double)x[i];
    if (p->bits == 32)
        for (size_t i = 0; i < n; i++) /* vector loop */
            flip[i] = (uint64_t)(int64_t)-(int32_t)(word32[i] >= keep32);
    else
        for (size_t i = 0; i < n; i++) /* vector loop */
            flip[i] = -(uint64_t)(word[i] >= keep);
    if (!p->any_time) {
        NAME(walk)(p, value, flip, &up_step, &down_step, 1, n, state);
        return;
    }
    for (size_t i = 0; i < n; i++) { /* vector loop */
        const double rate = 1 / __builtin_sqrt(first + (double)(int32_t)i);
        up[i] = rate * up_step;
        down[i] = rate * down_step;
    }
    NAME(walk)(p, value, flip, up, down, 0, n, state);
}

static void NAME(quantile_steps)(const quantile_sgd *p, const void *words, const REAL *x, size_t n, quantile_state *state)
{
    for (size_t i = 0; i < n; i += QUANTILE_PIECE)
        NAME(piece)(p, (const char *)words + i * (size_t)p->bits / 8, x + i, n - i < QUANTILE_PIECE ? n - i : QUANTILE_PIECE,
                    state);
}
