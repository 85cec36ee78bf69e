#define _GNU_SOURCE
#include "CLoopKit.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

int loopkit_network_open(void) {
    int descriptor = socket(AF_NETLINK, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, NETLINK_ROUTE);
    if (descriptor < 0) return -errno;
    struct sockaddr_nl address = {
        .nl_family = AF_NETLINK,
        .nl_groups = RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE,
    };
    if (bind(descriptor, (struct sockaddr *)&address, sizeof address) == 0) return descriptor;
    int failure = errno;
    close(descriptor);
    return -failure;
}

int loopkit_network_request(int descriptor, int kind) {
    static const unsigned short types[] = {RTM_GETLINK, RTM_GETADDR, RTM_GETROUTE};
    struct {
        struct nlmsghdr header;
        struct rtgenmsg body;
    } request = {
        .header = {.nlmsg_len = NLMSG_LENGTH(sizeof(struct rtgenmsg)),
                   .nlmsg_type = types[kind],
                   .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
        .body = {.rtgen_family = AF_UNSPEC},
    };
    return send(descriptor, &request, request.header.nlmsg_len, 0) < 0 ? -errno : 0;
}

static void keep(struct loopkit_fact *fact, const struct rtattr *attribute) {
    size_t count = RTA_PAYLOAD(attribute);
    if (count > sizeof fact->address) count = sizeof fact->address;
    memcpy(fact->address, RTA_DATA(attribute), count);
}

// Stores the attributes that distinguish one fact from another.
static void scan(struct loopkit_fact *fact, const struct rtattr *attribute, long length, int address, int interface) {
    for (; RTA_OK(attribute, length); attribute = RTA_NEXT(attribute, length)) {
        if (attribute->rta_type == address) keep(fact, attribute);
        if (attribute->rta_type == interface && RTA_PAYLOAD(attribute) == sizeof(int))
            memcpy(&fact->interface, RTA_DATA(attribute), sizeof(int));
    }
}

static int read_link(const struct nlmsghdr *header, struct loopkit_fact *fact) {
    if (header->nlmsg_len < NLMSG_LENGTH(sizeof(struct ifinfomsg))) return LOOPKIT_NOTHING;
    const struct ifinfomsg *link = NLMSG_DATA(header);
    if (link->ifi_flags & IFF_LOOPBACK) return LOOPKIT_NOTHING;
    fact->kind = LOOPKIT_LINK;
    fact->interface = link->ifi_index;
    fact->holds = header->nlmsg_type == RTM_NEWLINK && (link->ifi_flags & IFF_UP) && (link->ifi_flags & IFF_RUNNING);
    return LOOPKIT_FACT;
}

static int read_address(const struct nlmsghdr *header, struct loopkit_fact *fact) {
    if (header->nlmsg_len < NLMSG_LENGTH(sizeof(struct ifaddrmsg))) return LOOPKIT_NOTHING;
    const struct ifaddrmsg *address = NLMSG_DATA(header);
    // A tentative address is reported again when it can be used.
    if (address->ifa_scope == RT_SCOPE_HOST || (address->ifa_flags & IFA_F_TENTATIVE)) return LOOPKIT_NOTHING;
    fact->kind = LOOPKIT_ADDRESS;
    fact->family = address->ifa_family;
    fact->interface = (int)address->ifa_index;
    fact->holds = header->nlmsg_type == RTM_NEWADDR;
    scan(fact, IFA_RTA(address), IFA_PAYLOAD(header), IFA_ADDRESS, -1);
    return LOOPKIT_FACT;
}

static int read_route(const struct nlmsghdr *header, struct loopkit_fact *fact) {
    if (header->nlmsg_len < NLMSG_LENGTH(sizeof(struct rtmsg))) return LOOPKIT_NOTHING;
    const struct rtmsg *route = NLMSG_DATA(header);
    // Only the default route: the others come and go with the addresses.
    if (route->rtm_dst_len != 0 || route->rtm_table != RT_TABLE_MAIN) return LOOPKIT_NOTHING;
    if (route->rtm_type != RTN_UNICAST) return LOOPKIT_NOTHING;
    fact->kind = LOOPKIT_ROUTE;
    fact->family = route->rtm_family;
    fact->holds = header->nlmsg_type == RTM_NEWROUTE;
    scan(fact, RTM_RTA(route), RTM_PAYLOAD(header), RTA_GATEWAY, RTA_OIF);
    return LOOPKIT_FACT;
}

int loopkit_network_read(const void *bytes, size_t count, size_t *offset, struct loopkit_fact *fact) {
    const struct nlmsghdr *header = (const void *)((const char *)bytes + *offset);
    size_t left = count - *offset;
    if (!NLMSG_OK(header, left)) return LOOPKIT_END;
    size_t length = NLMSG_ALIGN(header->nlmsg_len);
    *offset += length < left ? length : left;
    memset(fact, 0, sizeof *fact);
    switch (header->nlmsg_type) {
    case NLMSG_DONE:
    case NLMSG_ERROR: return LOOPKIT_DONE;
    case RTM_NEWLINK:
    case RTM_DELLINK: return read_link(header, fact);
    case RTM_NEWADDR:
    case RTM_DELADDR: return read_address(header, fact);
    case RTM_NEWROUTE:
    case RTM_DELROUTE: return read_route(header, fact);
    default: return LOOPKIT_NOTHING;
    }
}

int loopkit_clock_open(void) {
    int descriptor = timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK | TFD_CLOEXEC);
    if (descriptor < 0) return -errno;
    int failure = loopkit_clock_arm(descriptor);
    if (failure == 0) return descriptor;
    close(descriptor);
    return failure;
}

int loopkit_clock_arm(int descriptor) {
    // So far away that only a clock jump ends it.
    struct itimerspec never = {.it_value = {.tv_sec = (time_t)1 << 33}};
    int flags = TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET;
    // If the clock jumped since it was armed, this fails with ECANCELED but still arms it.
    if (timerfd_settime(descriptor, flags, &never, 0) == 0 || errno == ECANCELED) return 0;
    return -errno;
}
