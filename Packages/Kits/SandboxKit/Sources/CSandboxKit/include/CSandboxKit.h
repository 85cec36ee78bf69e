// What Swift cannot do itself: building a filter by libseccomp, whose constants are macros, memory with a descriptor, calls
// that libc has no function for, and walking a tree of files whose names may be no text.
#pragma once

#include <stddef.h>
#include <stdint.h>

// A descriptor from which these bytes can be read, closed on exec; negative errno.
int sandboxkit_memory(const void *_Nullable bytes, size_t count);

// What a filter refuses beside what every command is refused.
enum {
    SANDBOXKIT_NO_NETWORK = 1,    // the internet's sockets too
    SANDBOXKIT_SHARED = 2,        // what leads to other processes and files, where only Landlock is in between
    SANDBOXKIT_NO_TRUNCATING = 4, // emptying files that may not be written
};

// A descriptor from which the filter of system calls can be read, closed on exec; negative errno.
int sandboxkit_filter(unsigned kinds);

// The version of Landlock that the kernel has; negative errno.
int sandboxkit_landlock_version(void);
// A new set of rules, closed on exec: what it keeps from who obeys it, but for what rules allow; negative errno.
int sandboxkit_landlock_rules(uint64_t rights, uint64_t scopes);
// Opens something to allow it, and nothing that a link there leads to; negative errno.
int sandboxkit_landlock_place(const char *_Nonnull path);
// Allows rights to what is open, and to all beneath it. 0 or negative errno.
int sandboxkit_landlock_allow(int rules, int place, uint64_t rights);

// Removes all that is in a folder, following no link. 0 or negative errno.
int sandboxkit_remove_contents(int folder);

// The version of libseccomp in use.
void sandboxkit_library_version(unsigned *_Nonnull major, unsigned *_Nonnull minor, unsigned *_Nonnull micro);
