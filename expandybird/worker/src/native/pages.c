#define _GNU_SOURCE
#include "pages.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

typedef void visitor(const struct mapping *, uintptr_t, uintptr_t, uint64_t);

static void look(int pagemap, const struct mapping *in, visitor *visit) {
    const size_t size = (size_t)sysconf(_SC_PAGESIZE);
    uint64_t entries[512];
    for (uintptr_t page = in->start; page < in->end;) {
        size_t wanted = (in->end - page) / size;
        if (wanted > sizeof entries / sizeof *entries)
            wanted = sizeof entries / sizeof *entries;
        ssize_t got = pread(pagemap, entries, wanted * sizeof *entries,
                            (off_t)(page / size * sizeof *entries));
        if (got < (ssize_t)(wanted * sizeof *entries))
            return;
        for (size_t at = 0; at < wanted; at++, page += size)
            visit(in, page, size, entries[at]);
    }
}

void pages_each(visitor *visit) {
    int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[512];
    while (pagemap >= 0 && maps && fgets(line, sizeof line, maps)) {
        struct mapping in;
        char access[5];
        if (sscanf(line, "%lx-%lx %4s", &in.start, &in.end, access) != 3)
            continue;
        // The kernel's own pages, and memory that is shared anyway.
        if (access[0] != 'r' || access[3] != 'p' || strstr(line, "[v"))
            continue;
        in.is_writable = access[1] == 'w';
        in.is_executable = access[2] == 'x';
        in.is_stack = strstr(line, "[stack]") != NULL;
        look(pagemap, &in, visit);
    }
    if (maps)
        fclose(maps);
    if (pagemap >= 0)
        close(pagemap);
}
