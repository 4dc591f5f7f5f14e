// The pages that a session needs from its first moment. machine.c passes on what the program sets by a clock.

#ifndef WORKING_SET_H
#define WORKING_SET_H

#include <stdint.h>

enum {
    // In the zygote, before what sessions use is loaded and rehearsed.
    WORKING_SET_TOGETHER = 1,
    // In the zygote, before the child that rehearses is forked.
    WORKING_SET_PREPARE = 2,
    // In that child, after its rehearsal.
    WORKING_SET_LEARN = 3,
    // In the zygote, after the end of that child. Nothing changes after that.
    WORKING_SET_FIX = 4,
};

// False if it has no effect.
int working_set_change(int64_t what);

#endif
