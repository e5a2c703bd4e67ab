/* Subset selection whose code is the rank of a set, for clients: without the table of all sets that the kernel for arrays reads. */
#ifndef LDP_SUBSET_CODES_H
#define LDP_SUBSET_CODES_H

#include "simd/branchless.h"

enum { MAX_RANKED_SETS = 1 << 16, MAX_MEMBERS = 9 }; /* of a set, of at most half of the nodes */

/* Number of sets with some of n elements, at most half of them; 0 if there are more than MAX_RANKED_SETS. */
static uint32_t ranked_sets(uint32_t n, uint32_t members)
{
    uint64_t sets = 1;
    for (uint32_t i = 0; i < members && sets; i++) {
        sets = sets * (n - i) / (i + 1);
        sets = sets <= MAX_RANKED_SETS ? sets : 0;
    }
    return (uint32_t)sets;
}

/* Turns a row of Pascal's triangle into the one above it. */
static void previous_row(uint32_t *row, uint32_t members)
{
    for (uint32_t i = 1; i <= members; i++)
        row[i] -= row[i - 1];
}

/* An entry of a row, read without an address that depends on its place; 0 for places outside. */
static uint32_t entry_of(const uint32_t *row, uint32_t members, uint32_t place)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i <= members; i++)
        found |= row[i] & -(uint32_t)(i == place);
    return found;
}

/* The rank, in the lexicographic order of all sets, of set number `draw` of those with a node, or without it if `tails` is 1.
 *
 * Elements are decided one after the other. Those of a set that has the next element come before those that lack it: `below` of them are
 * left to be drawn, and `sets` are left at all. All places are read for each element, so that neither a branch nor an address depends on
 * the node, the coin or the draw. */
static uint32_t subset_code(uint32_t nodes, uint32_t members, uint32_t node, uint32_t tails, uint32_t draw)
{
    uint32_t row[MAX_MEMBERS + 1] = {0}, above[MAX_MEMBERS + 1], rank = 0, left = members;
    for (uint32_t i = 0; i <= members; i++)
        row[i] = ranked_sets(nodes, i);
    for (uint32_t element = 0; element < nodes; element++) {
        previous_row(row, members); /* the sets of the elements that follow */
        memcpy(above, row, sizeof above);
        previous_row(above, members); /* and those of the same, without the node */
        const uint32_t is_node = -(uint32_t)(element == node), is_before = -(uint32_t)(element < node);
        const uint32_t sets = entry_of(row, members, left - 1);
        const uint32_t of_others = entry_of(above, members, left - 1 - (1 - tails));
        const uint32_t below = choose_u32(is_before, of_others, sets);
        const uint32_t taken = choose_u32(is_node, tails - 1, -(uint32_t)(draw < below));
        draw -= below & ~(taken | is_node);
        rank += sets & ~taken;
        left -= taken & 1;
    }
    return rank;
}

#endif
