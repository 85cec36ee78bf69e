#define _GNU_SOURCE
#include "CProcessKit.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

int processkit_epoll_create(void) {
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    return epoll < 0 ? -errno : epoll;
}

int processkit_epoll_arm(int epoll, int descriptor, bool for_writing) {
    struct epoll_event event = {.events = (for_writing ? EPOLLOUT : EPOLLIN) | EPOLLONESHOT, .data.fd = descriptor};
    if (epoll_ctl(epoll, EPOLL_CTL_MOD, descriptor, &event) == 0) return 0;
    if (errno == ENOENT && epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event) == 0) return 0;
    return -errno;
}

void processkit_epoll_forget(int epoll, int descriptor) {
    epoll_ctl(epoll, EPOLL_CTL_DEL, descriptor, 0);
}

int processkit_epoll_wait(int epoll, int *ready, int capacity, int milliseconds) {
    struct epoll_event events[64];
    int count = epoll_wait(epoll, events, capacity < 64 ? capacity : 64, milliseconds);
    if (count < 0) return -errno;
    for (int index = 0; index < count; index++) ready[index] = events[index].data.fd;
    return count;
}

int processkit_eventfd(void) {
    int descriptor = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return descriptor < 0 ? -errno : descriptor;
}
