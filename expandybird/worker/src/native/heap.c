// Loading Python's library leaves free memory in pieces, all over the heap. A session that takes its memory there writes
// to many pages for little memory, and the kernel makes a copy of each.
//
// C, because Rust cannot ask this allocator what it has.

#include "heap.h"

#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>

// The least that the allocator gives.
static const size_t SMALLEST_BYTES = 24;

// Each size from the largest hole down to the smallest: what one size leaves of a hole is for the next.
static size_t smaller(size_t bytes) {
    const size_t step = bytes / 16 < 16 ? 16 : bytes / 16;
    return bytes > step ? bytes - step : 0;
}

void heap_fill_holes(void) {
    // Small blocks that are free are joined at once. Otherwise a session joins them all when it needs a larger one, and
    // writes to each.
    mallopt(M_MXFAST, 0);
    const struct mallinfo2 heap = mallinfo2();
    const size_t largest = heap.fordblks - heap.keepcost;
    // Fits into no hole.
    void *beyond = malloc(largest + 1);
    const uintptr_t end = (uintptr_t)beyond;
    free(beyond);
    for (size_t bytes = largest; bytes >= SMALLEST_BYTES; bytes = smaller(bytes)) {
        void *block;
        while ((block = malloc(bytes)) && (uintptr_t)block < end)
            ;
        free(block);
    }
}
