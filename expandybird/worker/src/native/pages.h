// The pages of this process's memory, as /proc shows them.

#ifndef PAGES_H
#define PAGES_H

#include <stdint.h>

// Of an entry of /proc/PID/pagemap: in memory; used by this process alone; of a file, or of memory that processes share.
#define PAGE_PRESENT (UINT64_C(1) << 63)
#define PAGE_EXCLUSIVE (UINT64_C(1) << 56)
#define PAGE_OF_FILE (UINT64_C(1) << 61)

struct mapping {
    uintptr_t start;
    uintptr_t end;
    int is_writable;
    int is_executable;
    int is_stack;
};

// Calls `visit` for each page that can be read and that no other process can write to, except the kernel's own.
// Without /proc, for none.
void pages_each(void (*visit)(const struct mapping *in, uintptr_t page, uintptr_t bytes, uint64_t entry));

#endif
