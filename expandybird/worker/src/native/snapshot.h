// The memory of the zygote, in a file that all processes share.

#ifndef SNAPSHOT_H
#define SNAPSHOT_H

// False if memory stays as it was: everything works as before, and a fork takes longer.
int snapshot_take(void);

#endif
