// Where the C library's allocator puts things.

#ifndef HEAP_H
#define HEAP_H

// Takes all free memory between what is in use, for good: what is allocated from now on lies together at the end.
void heap_fill_holes(void);

#endif
