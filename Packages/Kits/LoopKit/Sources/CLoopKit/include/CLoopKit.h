// What the Glibc module does not show Swift: epoll, eventfd and accept4.
#pragma once

#include <stdint.h>

// What a descriptor is ready for; a bit each.
enum { LOOPKIT_READABLE = 1, LOOPKIT_WRITABLE = 2, LOOPKIT_HUNG_UP = 4 };

struct loopkit_event {
    uint64_t token; // as given when the descriptor was added
    uint32_t ready;
};

// All of these return 0 or a descriptor or a count, and a negative errno when they fail.
int loopkit_epoll_create(void);
// Watches all directions and the hang-up, telling each change once (edge-triggered).
int loopkit_epoll_add(int epoll, int descriptor, uint64_t token);
// Watches for reading, telling as long as there is something to read.
int loopkit_epoll_add_level(int epoll, int descriptor, uint64_t token);
int loopkit_epoll_remove(int epoll, int descriptor);
int loopkit_epoll_wait(int epoll, struct loopkit_event *_Nonnull events, int capacity, int milliseconds);
int loopkit_eventfd(void);
// A connection that does not block and is not inherited.
int loopkit_accept(int listener);
