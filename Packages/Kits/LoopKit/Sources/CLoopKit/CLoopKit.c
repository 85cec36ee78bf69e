#define _GNU_SOURCE
#include "CLoopKit.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

enum { batch = 256 };

static int add(int epoll, int descriptor, uint64_t token, uint32_t events) {
    struct epoll_event event = {.events = events, .data.u64 = token};
    return epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event) == 0 ? 0 : -errno;
}

int loopkit_epoll_create(void) {
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    return epoll < 0 ? -errno : epoll;
}

int loopkit_epoll_add(int epoll, int descriptor, uint64_t token) {
    return add(epoll, descriptor, token, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET);
}

int loopkit_epoll_add_level(int epoll, int descriptor, uint64_t token) {
    return add(epoll, descriptor, token, EPOLLIN);
}

int loopkit_epoll_remove(int epoll, int descriptor) {
    return epoll_ctl(epoll, EPOLL_CTL_DEL, descriptor, 0) == 0 ? 0 : -errno;
}

int loopkit_epoll_wait(int epoll, struct loopkit_event *events, int capacity, int milliseconds) {
    struct epoll_event found[batch];
    int count = epoll_wait(epoll, found, capacity < batch ? capacity : batch, milliseconds);
    if (count < 0) return -errno;
    for (int index = 0; index < count; index++) {
        uint32_t bits = found[index].events, ready = 0;
        if (bits & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) ready |= LOOPKIT_READABLE;
        if (bits & (EPOLLOUT | EPOLLHUP | EPOLLERR)) ready |= LOOPKIT_WRITABLE;
        if (bits & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) ready |= LOOPKIT_HUNG_UP;
        events[index].token = found[index].data.u64;
        events[index].ready = ready;
    }
    return count;
}

int loopkit_eventfd(void) {
    int descriptor = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return descriptor < 0 ? -errno : descriptor;
}

int loopkit_accept(int listener) {
    int descriptor = accept4(listener, 0, 0, SOCK_NONBLOCK | SOCK_CLOEXEC);
    return descriptor < 0 ? -errno : descriptor;
}
