// How this program ends when Rust has no memory left: with a code of its own, so that the server can tell.
//
// Rust reports a failed allocation by a call of this function, and by nothing else that the program could see. A session
// may not send itself the signal of the C library's function.
//
// C, because Rust cannot define a function of the C library without unsafe code.

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

// expandybird_protocol::control has it too.
#define OUT_OF_MEMORY 112

void abort(void) {
    // The allocator has left it there.
    if (errno == ENOMEM)
        _exit(OUT_OF_MEMORY);
    __builtin_trap();
}
