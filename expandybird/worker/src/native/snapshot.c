// Moves what the zygote has in memory into a file without a name, and maps a private copy of it at the same place.
//
// Linux copies the tables of anonymous pages in each fork, and goes through them once more when the process ends, for
// each page that there is. Of the pages of a file it copies nothing: a session gets those that it reads, and a copy of
// those that it writes to, which takes less time than a copy of an anonymous page.
//
// The file is sealed and closed before there is a session, so nobody can write to it any more.
//
// C, because Rust cannot map memory without unsafe code.

#define _GNU_SOURCE
#include "snapshot.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pages.h"

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

static const size_t HUGE_BYTES = 2 << 20;

enum { PARTS = 512 };

// A mapping up to its last page that is no file's.
struct part {
    uintptr_t start;
    uintptr_t end;
    int access;
    // Its place in the file.
    off_t at;
};

static struct part parts[PARTS];
static size_t count;
static off_t at;

// The kernel itself writes to the memory of a running thread, and it has little else.
static int is_of_thread(const struct mapping *in) {
    const uintptr_t own = (uintptr_t)&errno;
    return in->is_stack || (own >= in->start && own < in->end);
}

static void collect(const struct mapping *in, uintptr_t page, uintptr_t bytes, uint64_t entry) {
    if ((entry & (PAGE_PRESENT | PAGE_OF_FILE)) != PAGE_PRESENT || in->is_executable)
        return;
    if (is_of_thread(in))
        return;
    if (count == 0 || parts[count - 1].start != in->start) {
        if (count == PARTS)
            return;
        const int access = PROT_READ | (in->is_writable ? PROT_WRITE : 0);
        parts[count++] = (struct part){in->start, in->start, access, at};
    }
    struct part *part = &parts[count - 1];
    at += (off_t)(page + bytes - part->end);
    part->end = page + bytes;
}

static int write_all(int file, uintptr_t start, size_t bytes, off_t at) {
    for (size_t done = 0; done < bytes;) {
        ssize_t wrote = pwrite(file, (const void *)(start + done), bytes - done, at + (off_t)done);
        if (wrote <= 0)
            return 0;
        done += (size_t)wrote;
    }
    return 1;
}

static int copy(int file, const struct part *part) {
    return write_all(file, part->start, part->end - part->start, part->at);
}

static int replace(int file, const struct part *part) {
    const size_t bytes = part->end - part->start;
    return mmap((void *)part->start, bytes, part->access, MAP_PRIVATE | MAP_FIXED, file, part->at) != MAP_FAILED;
}

// Asks for the file in huge pages: the kernel then maps and forgets many pages of it at once. Without them, it takes
// more time, and that is all.
static void enlarge(int file, size_t bytes) {
    bytes = (bytes + HUGE_BYTES - 1) / HUGE_BYTES * HUGE_BYTES;
    char *room = mmap(NULL, bytes + HUGE_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED || ftruncate(file, (off_t)bytes) != 0)
        return;
    char *aligned = (char *)(((uintptr_t)room + HUGE_BYTES - 1) / HUGE_BYTES * HUGE_BYTES);
    if (mmap(aligned, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) != MAP_FAILED)
        madvise(aligned, bytes, MADV_COLLAPSE);
    munmap(room, bytes + HUGE_BYTES);
}

// Between the copy and the replacement nothing changes: there is one thread, and it writes to its stack only.
int snapshot_take(void) {
    int file = memfd_create("expandybird-worker", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (file < 0)
        return 0;
    pages_each(collect);
    int all = count > 0;
    for (size_t next = 0; all && next < count; next++)
        all = copy(file, &parts[next]);
    if (all)
        enlarge(file, (size_t)at);
    for (size_t next = 0; all && next < count; next++)
        all = replace(file, &parts[next]);
    all = fcntl(file, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) == 0 && all;
    return close(file) == 0 && all;
}
