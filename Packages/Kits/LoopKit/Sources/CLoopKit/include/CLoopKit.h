// Functions that the Glibc module does not expose to Swift: epoll, eventfd, accept4, netlink and timers.
#pragma once

#include <stddef.h>
#include <stdint.h>

// The directions in which a descriptor is ready; one bit each.
enum { LOOPKIT_READABLE = 1, LOOPKIT_WRITABLE = 2, LOOPKIT_HUNG_UP = 4 };

struct loopkit_event {
    uint64_t token; // as given when the descriptor was added
    uint32_t ready;
};

// Each function returns 0, a descriptor or a count, or a negative errno on failure.
int loopkit_epoll_create(void);
// Watches all directions and the hang-up. Reports each change once (edge-triggered).
int loopkit_epoll_add(int epoll, int descriptor, uint64_t token);
// Watches for reading. Reports as long as there is something to read (level-triggered).
int loopkit_epoll_add_level(int epoll, int descriptor, uint64_t token);
int loopkit_epoll_remove(int epoll, int descriptor);
int loopkit_epoll_wait(int epoll, struct loopkit_event *_Nonnull events, int capacity, int milliseconds);
int loopkit_eventfd(void);
// A connection that does not block and is not inherited.
int loopkit_accept(int listener);

// A socket that receives changes of interfaces, addresses and routes from the kernel.
int loopkit_network_open(void);
// Requests all facts of a kind. The list ends with LOOPKIT_DONE.
int loopkit_network_request(int descriptor, int kind);

enum { LOOPKIT_LINK, LOOPKIT_ADDRESS, LOOPKIT_ROUTE };

// One fact that is now true, or no longer true.
struct loopkit_fact {
    int kind;
    int interface;
    int family;
    int holds;
    unsigned char address[16];
};

enum { LOOPKIT_END, LOOPKIT_NOTHING, LOOPKIT_FACT, LOOPKIT_DONE };
// Reads the message at `offset` of the received bytes, and advances the offset. Returns one of the four values above.
int loopkit_network_read(
    const void *_Nonnull bytes, size_t count, size_t *_Nonnull offset, struct loopkit_fact *_Nonnull fact);

// A timer that becomes readable when the wall clock jumps, such as when the machine wakes up.
int loopkit_clock_open(void);
// Waits for the next jump.
int loopkit_clock_arm(int descriptor);
