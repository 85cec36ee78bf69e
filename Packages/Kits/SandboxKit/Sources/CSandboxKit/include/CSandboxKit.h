// Things that Swift cannot do: building a filter with libseccomp, whose constants are macros; memory with a descriptor;
// system calls without a libc function; walking a file tree whose names may not be valid text.
#pragma once

#include <stddef.h>
#include <stdint.h>

// Returns a descriptor from which these bytes can be read, closed on exec; or a negative errno.
int sandboxkit_memory(const void *_Nullable bytes, size_t count);

// What a filter refuses in addition to what it always refuses.
enum {
    SANDBOXKIT_NO_NETWORK = 1,    // internet sockets
    SANDBOXKIT_SHARED = 2,        // access to other processes and files, if only Landlock separates them
    SANDBOXKIT_NO_TRUNCATING = 4, // truncating files that may not be written
};

// Returns a descriptor from which the system call filter can be read, closed on exec; or a negative errno.
int sandboxkit_filter(unsigned kinds);

// Returns the Landlock version of the kernel; or a negative errno.
int sandboxkit_landlock_version(void);
// Returns a new ruleset, closed on exec; or a negative errno. It denies these rights and scopes unless a rule allows
// them.
int sandboxkit_landlock_rules(uint64_t rights, uint64_t scopes);
// Opens a path for an allow rule, without following a link at its end; or returns a negative errno.
int sandboxkit_landlock_place(const char *_Nonnull path);
// Allows rights for an open file, or for a folder and everything in it. Returns 0 or a negative errno.
int sandboxkit_landlock_allow(int rules, int place, uint64_t rights);

// Removes everything in a folder without following links. Returns 0 or a negative errno.
int sandboxkit_remove_contents(int folder);

// Returns the version of libseccomp.
void sandboxkit_library_version(unsigned *_Nonnull major, unsigned *_Nonnull minor, unsigned *_Nonnull micro);
