// What Swift cannot do itself: building a filter by libseccomp, whose constants are macros, and memory with a descriptor.
#pragma once

#include <stddef.h>

// A descriptor from which these bytes can be read, closed on exec; negative errno.
int sandboxkit_memory(const void *_Nullable bytes, size_t count);

// A descriptor from which the filter of system calls can be read, closed on exec; negative errno.
int sandboxkit_filter(void);

// The version of libseccomp in use.
void sandboxkit_library_version(unsigned *_Nonnull major, unsigned *_Nonnull minor, unsigned *_Nonnull micro);
