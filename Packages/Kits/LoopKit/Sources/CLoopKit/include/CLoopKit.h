// What the Glibc module does not show Swift: epoll, eventfd, accept4, netlink and timers.
#pragma once

#include <stddef.h>
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

// A socket on which the kernel tells changes of interfaces, addresses and routes.
int loopkit_network_open(void);
// Asks for all facts of a kind; they end with LOOPKIT_DONE.
int loopkit_network_request(int descriptor, int kind);

enum { LOOPKIT_LINK, LOOPKIT_ADDRESS, LOOPKIT_ROUTE };

// One thing that is so, or is no longer.
struct loopkit_fact {
    int kind;
    int interface;
    int family;
    int holds;
    unsigned char address[16];
};

enum { LOOPKIT_END, LOOPKIT_NOTHING, LOOPKIT_FACT, LOOPKIT_DONE };
// Reads the message at `offset` of what was received, and moves on; one of the four above.
int loopkit_network_read(
    const void *_Nonnull bytes, size_t count, size_t *_Nonnull offset, struct loopkit_fact *_Nonnull fact);

// A timer that becomes readable when the clock of the day jumps, as it does when the machine wakes up.
int loopkit_clock_open(void);
// Waits for the next jump.
int loopkit_clock_arm(int descriptor);
