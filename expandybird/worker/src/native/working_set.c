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

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>

#include "heap.h"
#include "pages.h"
#include "snapshot.h"

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

// As Linux does by default.
static const uintptr_t AROUND_BYTES = 64 << 10;
// The last that has a page in the list.
static uintptr_t around;

struct working_set {
    size_t count;
    struct run runs[RUNS];
};

// Shared by the zygote and the child that fills it.
static struct working_set *learned;
// What later children have: nothing that one of them changes reaches another.
static struct working_set set;
static int is_fixed;

// What is written to comes first: the kernel maps what lies around a page that is read.
static void populate(void) {
    static const int ORDER[] = {MADV_POPULATE_WRITE, MADV_POPULATE_READ};
    for (size_t turn = 0; turn < 2; turn++)
        for (size_t at = 0; at < set.count; at++)
            if (set.runs[at].advice == ORDER[turn])
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

// What this process alone has of memory that it may write to, and what it reads of files.
static void learn(const struct mapping *in, uintptr_t page, uintptr_t bytes, uint64_t entry) {
    if (!learned || !(entry & PAGE_PRESENT))
        return;
    if (entry & PAGE_OF_FILE) {
        // The kernel maps what lies around a page of a file, so one page stands for its neighbours.
        if (page / AROUND_BYTES != around)
            add(page, bytes, MADV_POPULATE_READ);
        around = page / AROUND_BYTES;
    } else if (in->is_writable && (entry & PAGE_EXCLUSIVE)) {
        add(page, bytes, MADV_POPULATE_WRITE);
    }
}

int working_set_change(int64_t what) {
    // A template could set the clock too.
    if (is_fixed)
        return 0;
    switch (what) {
    case WORKING_SET_TOGETHER:
        heap_fill_holes();
        return 1;
    case WORKING_SET_PREPARE:
        if (!snapshot_take())
            fputs("expandybird-worker: the kernel keeps the memory of this process in no file; each fork takes longer\n", stderr);
        prepare();
        return learned != NULL;
    case WORKING_SET_LEARN:
        pages_each(learn);
        return 1;
    case WORKING_SET_FIX:
        fix();
        return set.count > 0;
    default:
        return 0;
    }
}
