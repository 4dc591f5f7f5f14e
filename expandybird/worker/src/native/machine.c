// What this program learns of the machine that it runs on: a clock that stands still, randomness
// that repeats, and no names.
//
// These are functions of the C library. A program's own definition of such a function comes before
// the library's, for all that is loaded into the program: Python, its modules, the libraries behind
// them. So no way through Python leads to the original.
//
// C, because Rust cannot define a function of the C library without unsafe code.
//
// - Clocks, entropy, users and names are the program's own from its first line: Python keeps some of
//   them when it loads a module. The program sets clock and entropy with clock_settime; until then
//   the clock shows 1970.
// - Process ids are the kernel's, until the kernel refuses them: a session's system call filter does.

#define _GNU_SOURCE
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "working_set.h"

// The clock that clock_settime takes for the beginning of all entropy. worker/src/python/fixed.py names it too.
#define ENTROPY_CLOCK 0x5eed
// The clock that passes on what working_set.h says. worker/src/python/process.py names it too.
#define WORKING_SET_CLOCK 0x5ee7

static const int64_t NANOSECONDS = 1000000000;

static struct timespec wall;
static uint64_t entropy;

// Clocks.

int clock_settime(clockid_t clock, const struct timespec *time) {
    switch (clock) {
    case CLOCK_REALTIME:
        wall = *time;
        return 0;
    case ENTROPY_CLOCK:
        entropy = (uint64_t)time->tv_sec * NANOSECONDS + time->tv_nsec;
        return 0;
    case WORKING_SET_CLOCK:
        if (working_set_change(time->tv_nsec))
            return 0;
        break;
    }
    errno = EINVAL;
    return -1;
}

// Those that count from no date show zero. A deadline on one of them is over at once, as the kernel's
// own clock is beyond it: a wait that ends by such a deadline does not wait for ever.
int clock_gettime(clockid_t clock, struct timespec *time) {
    switch (clock) {
    case CLOCK_REALTIME:
    case CLOCK_REALTIME_COARSE:
    case CLOCK_TAI:
        *time = wall;
        return 0;
    default:
        *time = (struct timespec){0};
        return 0;
    }
}

int clock_getres(clockid_t clock, struct timespec *resolution) {
    (void)clock;
    if (resolution)
        *resolution = (struct timespec){.tv_nsec = 1};
    return 0;
}

// A sleep until a moment of a clock above lasts as long as the clock says; the kernel has another clock.
int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time, struct timespec *left) {
    struct timespec wait = *time;
    if (flags & TIMER_ABSTIME) {
        struct timespec now;
        clock_gettime(clock, &now);
        wait.tv_sec -= now.tv_sec;
        wait.tv_nsec -= now.tv_nsec;
        if (wait.tv_nsec < 0) {
            wait.tv_sec -= 1;
            wait.tv_nsec += NANOSECONDS;
        }
        left = NULL;
    }
    if (wait.tv_sec < 0)
        return 0;
    return nanosleep(&wait, left) == 0 ? 0 : errno;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
    (void)zone;
    time->tv_sec = wall.tv_sec;
    time->tv_usec = wall.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *seconds) {
    if (seconds)
        *seconds = wall.tv_sec;
    return wall.tv_sec;
}

int timespec_get(struct timespec *time, int base) {
    *time = wall;
    return base;
}

clock_t clock(void) { return 0; }

clock_t times(struct tms *used) {
    if (used)
        *used = (struct tms){0};
    return 0;
}

int getrusage(__rusage_who_t who, struct rusage *used) {
    (void)who;
    *used = (struct rusage){0};
    return 0;
}

// Entropy: SplitMix64. It repeats by purpose, so nothing here is a secret.

static uint64_t next(void) {
    uint64_t mixed = (entropy += 0x9e3779b97f4a7c15);
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
    return mixed ^ (mixed >> 31);
}

void arc4random_buf(void *bytes, size_t size) {
    for (size_t done = 0; done < size; done += sizeof(uint64_t)) {
        uint64_t word = next();
        size_t left = size - done;
        memcpy((char *)bytes + done, &word, left < sizeof word ? left : sizeof word);
    }
}

uint32_t arc4random(void) { return (uint32_t)next(); }

ssize_t getrandom(void *bytes, size_t size, unsigned flags) {
    (void)flags;
    arc4random_buf(bytes, size);
    return (ssize_t)size;
}

int getentropy(void *bytes, size_t size) {
    arc4random_buf(bytes, size);
    return 0;
}

// Ids and names.

// The id that the kernel gives, or else `otherwise`.
static long asked(long call, long otherwise) {
    long id = syscall(call);
    return id < 0 ? otherwise : id;
}

pid_t getpid(void) { return (pid_t)asked(SYS_getpid, 2); }
pid_t getppid(void) { return (pid_t)asked(SYS_getppid, 1); }
pid_t gettid(void) { return (pid_t)asked(SYS_gettid, 2); }

// As the kernel numbers nobody.
uid_t getuid(void) { return 65534; }
uid_t geteuid(void) { return 65534; }
gid_t getgid(void) { return 65534; }
gid_t getegid(void) { return 65534; }

int uname(struct utsname *names) {
    *names = (struct utsname){
        .sysname = "Linux", .nodename = "localhost", .release = "5.13", .version = "#1",
#if defined(__x86_64__)
        .machine = "x86_64",
#elif defined(__aarch64__)
        .machine = "aarch64",
#else
#error "name this machine"
#endif
    };
    return 0;
}

int gethostname(char *name, size_t size) {
    struct utsname names;
    uname(&names);
    snprintf(name, size, "%s", names.nodename);
    return 0;
}
