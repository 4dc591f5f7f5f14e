// The memory that a session writes and reads before it comes to the code of its template: nearly the same pages each
// time. A process that waits for its session has them made ahead, in a few calls of the kernel, so no request waits
// for some four hundred page faults.
//
// A child of the zygote, which never has a template, rehearses once and looks which pages it got: its own copies of
// writable pages, and pages of files. It leaves the list in memory that it shares with the zygote, which takes a copy.
// Each later child goes through that copy right after the fork. Where the kernel shows no pages or cannot make them
// ahead, the list is empty or without effect.
//
// C, because Rust cannot call madvise without unsafe code.

#define _GNU_SOURCE
#include "working_set.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif

// Pages that follow each other and are made in one call.
struct run {
    uintptr_t start;
    size_t bytes;
    int advice;
};

enum { RUNS = 1500 };

struct working_set {
    size_t count;
    struct run runs[RUNS];
};

// Shared by the zygote and the child that fills it.
static struct working_set *learned;
// What later children have: nothing that one of them changes reaches another.
static struct working_set set;
static int is_fixed;

// As Linux has them in /proc/PID/pagemap.
static const uint64_t PRESENT = UINT64_C(1) << 63;
static const uint64_t EXCLUSIVE = UINT64_C(1) << 56;

static void populate(void) {
    for (size_t at = 0; at < set.count; at++)
        madvise((void *)set.runs[at].start, set.runs[at].bytes, set.runs[at].advice);
}

static void prepare(void) {
    void *room = mmap(NULL, sizeof set, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (room != MAP_FAILED)
        learned = room;
}

static void fix(void) {
    is_fixed = 1;
    if (!learned)
        return;
    set = *learned;
    munmap(learned, sizeof *learned);
    learned = NULL;
    // Linux makes pages ahead since 5.14. Elsewhere, each process rehearses.
    if (set.count && madvise((void *)set.runs[0].start, set.runs[0].bytes, set.runs[0].advice) != 0)
        set.count = 0;
    if (pthread_atfork(NULL, NULL, populate) != 0)
        set.count = 0;
}

static void add(uintptr_t page, size_t bytes, int advice) {
    struct run *last = learned->count ? &learned->runs[learned->count - 1] : NULL;
    if (last && last->advice == advice && last->start + last->bytes == page)
        last->bytes += bytes;
    else if (learned->count < RUNS)
        learned->runs[learned->count++] = (struct run){page, bytes, advice};
}

// The pages of one mapping.
static void look(int pagemap, uintptr_t start, uintptr_t end, int is_writable) {
    const size_t size = (size_t)sysconf(_SC_PAGESIZE);
    uint64_t entries[512];
    while (start < end) {
        size_t wanted = (end - start) / size;
        if (wanted > sizeof entries / sizeof *entries)
            wanted = sizeof entries / sizeof *entries;
        ssize_t got = pread(pagemap, entries, wanted * sizeof *entries,
                            (off_t)(start / size * sizeof *entries));
        if (got < (ssize_t)(wanted * sizeof *entries))
            return;
        const uint64_t bits = is_writable ? PRESENT | EXCLUSIVE : PRESENT;
        for (size_t at = 0; at < wanted; at++)
            if ((entries[at] & bits) == bits)
                add(start + at * size, size, is_writable ? MADV_POPULATE_WRITE : MADV_POPULATE_READ);
        start += wanted * size;
    }
}

static void learn(void) {
    int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[512];
    while (learned && pagemap >= 0 && maps && fgets(line, sizeof line, maps)) {
        uintptr_t start, end;
        char access[5];
        if (sscanf(line, "%lx-%lx %4s", &start, &end, access) != 3)
            continue;
        // The kernel's own pages, and memory that is shared anyway.
        if (access[0] != 'r' || access[3] != 'p' || strstr(line, "[v"))
            continue;
        look(pagemap, start, end, access[1] == 'w');
    }
    if (maps)
        fclose(maps);
    if (pagemap >= 0)
        close(pagemap);
}

int working_set_change(int64_t what) {
    // A template could set the clock too.
    if (is_fixed)
        return 0;
    switch (what) {
    case WORKING_SET_PREPARE:
        prepare();
        return learned != NULL;
    case WORKING_SET_LEARN:
        learn();
        return 1;
    case WORKING_SET_FIX:
        fix();
        return set.count > 0;
    default:
        return 0;
    }
}
