/* Bitsliced AES-256 in plain C, for machines without AES instructions: constant time, eight blocks at a time.
 *
 * State: eight planes, one per bit of a byte. Each 64-bit lane of a plane holds that bit of 64 bytes of four blocks; the bit
 * of row r and column c of block b is at 16 r + 4 c + b. So SubBytes is a circuit over the planes, ShiftRows and MixColumns
 * rotate parts of lanes, as in E. Kaesper and P. Schwabe, "Faster and timing-attack resistant AES-GCM", CHES 2009. The circuit
 * of the S-box is that of J. Boyar and R. Peralta, "A small depth-16 circuit for the AES S-box", SEC 2012: 128 gates. */
#include "random/aes_forms.h"

enum { LANES = 2, BATCH = 4 * LANES }; /* lanes of a vector; blocks at a time */

typedef uint64_t plane __attribute__((vector_size(8 * LANES)));

LDP_INLINE void sub_bytes(plane q[8])
{
    const plane x0 = q[7], x1 = q[6], x2 = q[5], x3 = q[4], x4 = q[3], x5 = q[2], x6 = q[1], x7 = q[0];
    /* The linear layer before the inversion. */
    const plane y14 = x3 ^ x5, y13 = x0 ^ x6, y9 = x0 ^ x3, y8 = x0 ^ x5, t0 = x1 ^ x2, y1 = t0 ^ x7, y4 = y1 ^ x3;
    const plane y12 = y13 ^ y14, y2 = y1 ^ x0, y5 = y1 ^ x6, y3 = y5 ^ y8, t1 = x4 ^ y12, y15 = t1 ^ x5, y20 = t1 ^ x1;
    const plane y6 = y15 ^ x7, y10 = y15 ^ t0, y11 = y20 ^ y9, y7 = x7 ^ y11, y17 = y10 ^ y11, y19 = y10 ^ y8;
    const plane y16 = t0 ^ y11, y21 = y13 ^ y16, y18 = x0 ^ y16;
    /* Inversion in GF(2^8) through its subfields. */
    const plane t2 = y12 & y15, t3 = y3 & y6, t4 = t3 ^ t2, t5 = y4 & x7, t6 = t5 ^ t2, t7 = y13 & y16, t8 = y5 & y1;
    const plane t9 = t8 ^ t7, t10 = y2 & y7, t11 = t10 ^ t7, t12 = y9 & y11, t13 = y14 & y17, t14 = t13 ^ t12, t15 = y8 & y10;
    const plane t16 = t15 ^ t12, t17 = t4 ^ t14, t18 = t6 ^ t16, t19 = t9 ^ t14, t20 = t11 ^ t16, t21 = t17 ^ y20;
    const plane t22 = t18 ^ y19, t23 = t19 ^ y21, t24 = t20 ^ y18, t25 = t21 ^ t22, t26 = t21 & t23, t27 = t24 ^ t26;
    const plane t28 = t25 & t27, t29 = t28 ^ t22, t30 = t23 ^ t24, t31 = t22 ^ t26, t32 = t31 & t30, t33 = t32 ^ t24;
    const plane t34 = t23 ^ t33, t35 = t27 ^ t33, t36 = t24 & t35, t37 = t36 ^ t34, t38 = t27 ^ t36, t39 = t29 & t38;
    const plane t40 = t25 ^ t39, t41 = t40 ^ t37, t42 = t29 ^ t33, t43 = t29 ^ t40, t44 = t33 ^ t37, t45 = t42 ^ t41;
    const plane z0 = t44 & y15, z1 = t37 & y6, z2 = t33 & x7, z3 = t43 & y16, z4 = t40 & y1, z5 = t29 & y7, z6 = t42 & y11;
    const plane z7 = t45 & y17, z8 = t41 & y10, z9 = t44 & y12, z10 = t37 & y3, z11 = t33 & y4, z12 = t43 & y13;
    const plane z13 = t40 & y5, z14 = t29 & y2, z15 = t42 & y9, z16 = t45 & y14, z17 = t41 & y8;
    /* The linear layer after it, and the affine map. */
    const plane t46 = z15 ^ z16, t47 = z10 ^ z11, t48 = z5 ^ z13, t49 = z9 ^ z10, t50 = z2 ^ z12, t51 = z2 ^ z5, t52 = z7 ^ z8;
    const plane t53 = z0 ^ z3, t54 = z6 ^ z7, t55 = z16 ^ z17, t56 = z12 ^ t48, t57 = t50 ^ t53, t58 = z4 ^ t46, t59 = z3 ^ t54;
    const plane t60 = t46 ^ t57, t61 = z14 ^ t57, t62 = t52 ^ t58, t63 = t49 ^ t58, t64 = z4 ^ t59, t65 = t61 ^ t62;
    const plane t66 = z1 ^ t63, s0 = t59 ^ t63, s3 = t53 ^ t66, s1 = t64 ^ ~s3, t67 = t64 ^ t65;
    q[7] = s0, q[6] = s1, q[5] = t55 ^ ~t67, q[4] = s3, q[3] = t51 ^ t66, q[2] = t47 ^ t65, q[1] = t56 ^ ~t62,
    q[0] = t48 ^ ~t60;
}

/* Row r is 16 bits of a lane and moves by r columns of four bits. */
LDP_INLINE plane shift_rows(plane x)
{
    return (x & 0x000000000000ffffu) | (x >> 4 & 0x000000000fff0000u) | (x << 12 & 0x00000000f0000000u) |
           (x >> 8 & 0x000000ff00000000u) | (x << 8 & 0x0000ff0000000000u) | (x >> 12 & 0x000f000000000000u) |
           (x << 4 & 0xfff0000000000000u);
}

LDP_INLINE void mix_columns(plane q[8])
{
    plane r[8], both[8], half[8]; /* the next row, its sum with this one, and that sum two rows on */
    for (int i = 0; i < 8; i++) {
        r[i] = q[i] >> 16 | q[i] << 48;
        both[i] = q[i] ^ r[i];
        half[i] = both[i] >> 32 | both[i] << 32;
    }
    for (int i = 0; i < 8; i++) { /* doubling in GF(2^8) shifts the planes and adds plane 7 to 0, 1, 3 and 4 */
        q[i] = both[(i + 7) % 8] ^ r[i] ^ half[i];
        if (i == 1 || i == 3 || i == 4)
            q[i] ^= both[7];
    }
}

/* Exchanges bits between bytes in planes and bytes in blocks: its own inverse. */
LDP_INLINE void transpose_bits(plane q[8])
{
    static const uint64_t low[3] = {0x5555555555555555u, 0x3333333333333333u, 0x0f0f0f0f0f0f0f0fu};
    for (int s = 0; s < 3; s++)
        for (int i = 0; i < 8; i++)
            if (!(i >> s & 1)) {
                plane a = q[i], b = q[i + (1 << s)];
                q[i] = (a & low[s]) | (b & low[s]) << (1 << s);
                q[i + (1 << s)] = (a >> (1 << s) & low[s]) | (b & ~low[s]);
            }
}

/* Puts the bytes of a 32-bit word (a column) at distances of 16 bits. */
LDP_INLINE uint64_t spread(uint32_t column)
{
    uint64_t x = column;
    x = (x | x << 16) & 0x0000ffff0000ffffu;
    return (x | x << 8) & 0x00ff00ff00ff00ffu;
}

LDP_INLINE uint32_t gather(uint64_t x)
{
    x &= 0x00ff00ff00ff00ffu;
    x = (x | x >> 8) & 0x0000ffff0000ffffu;
    return (uint32_t)(x | x >> 16);
}

/* Loads BATCH blocks of four words; block l + b LANES goes to lane l, place b. */
LDP_INLINE void load(const uint32_t (*block)[4], plane q[8])
{
    for (int b = 0; b < 4; b++)
        for (int l = 0; l < LANES; l++) {
            const uint32_t *w = block[LANES * b + l];
            q[b][l] = spread(w[0]) | spread(w[2]) << 8;
            q[b + 4][l] = spread(w[1]) | spread(w[3]) << 8;
        }
    transpose_bits(q);
}

LDP_INLINE void store(plane q[8], uint32_t (*block)[4])
{
    transpose_bits(q);
    for (int b = 0; b < 4; b++)
        for (int l = 0; l < LANES; l++) {
            uint32_t *w = block[LANES * b + l];
            w[0] = gather(q[b][l]), w[2] = gather(q[b][l] >> 8);
            w[1] = gather(q[b + 4][l]), w[3] = gather(q[b + 4][l] >> 8);
        }
}

static uint32_t sub_word(uint32_t word)
{
    uint32_t block[BATCH][4] = {{word}};
    plane q[8];
    load((const uint32_t (*)[4])block, q);
    sub_bytes(q);
    store(q, block);
    return block[0][0];
}

void aes_expand_portable(const uint8_t *key, aes_schedule *schedule) { aes_expand_with(sub_word, key, schedule); }

void aes_counter_portable(const aes_schedule *schedule, aes_input input, void *out, size_t blocks)
{
    plane key[AES_ROUNDS + 1][8];
    uint32_t block[BATCH][4];
    uint8_t *to = out;
    for (int r = 0; r <= AES_ROUNDS; r++) {
        for (int b = 0; b < BATCH; b++)
            memcpy(block[b], schedule->round_key + AES_BLOCK * r, AES_BLOCK);
        load((const uint32_t (*)[4])block, key[r]);
    }
    for (size_t done = 0; done < blocks; done += BATCH) {
        plane q[8];
        for (uint32_t b = 0; b < BATCH; b++) {
            memcpy(block[b], &input, AES_BLOCK);
            block[b][0] += (uint32_t)done + b;
        }
        load((const uint32_t (*)[4])block, q);
        for (int i = 0; i < 8; i++)
            q[i] ^= key[0][i];
        for (int r = 1; r <= AES_ROUNDS; r++) {
            sub_bytes(q);
            for (int i = 0; i < 8; i++)
                q[i] = shift_rows(q[i]);
            if (r < AES_ROUNDS)
                mix_columns(q);
            for (int i = 0; i < 8; i++)
                q[i] ^= key[r][i];
        }
        store(q, block);
        memcpy(to + AES_BLOCK * done, block, AES_BLOCK * (blocks - done < BATCH ? blocks - done : BATCH));
    }
    memset(key, 0, sizeof key);
    __asm__ volatile("" : : "r"(key) : "memory");
}
