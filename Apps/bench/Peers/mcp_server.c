// A server of the Model Context Protocol, modern era, that does as little as possible: over its standard input and output,
// or with a third argument over HTTP at a port of 127.0.0.1, which it prints.
// Arguments: the milliseconds until its first answer, how many tools it lists, the word `http`.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <netinet/tcp.h>

enum { room = 1 << 20, most = 128 };

static long pause_ms, tools;
static char list[room];

static void make_list(void) {
    size_t size = (size_t)sprintf(list, "{\"resultType\":\"complete\",\"tools\":[");
    for (long i = 0; i < tools && size < room - 1000; i++)
        size += (size_t)sprintf(
            list + size,
            "%s{\"name\":\"tool_%ld\",\"description\":\"Does one of many things with two numbers.\",\"inputSchema\":{"
            "\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"integer\"},\"b\":{\"type\":\"integer\"}},"
            "\"required\":[\"a\",\"b\"]}}",
            i ? "," : "", i);
    sprintf(list + size, "],\"ttlMs\":0,\"cacheScope\":\"private\"}");
}

// Writes the answer to one message and returns its length, which is 0 for a notification.
static size_t answer(const char *message, size_t count, char *out) {
    static const char call[] =
        "{\"resultType\":\"complete\",\"content\":[{\"type\":\"text\",\"text\":\"3\"}],\"isError\":false}";
    static const char discover[] =
        "{\"resultType\":\"complete\",\"supportedVersions\":[\"2026-07-28\"],\"capabilities\":{\"tools\":{}},"
        "\"serverInfo\":{\"name\":\"c\",\"version\":\"1\"},\"ttlMs\":0,\"cacheScope\":\"private\"}";
    // No argument of the calls has such a member.
    const char *id = memmem(message, count, "\"id\":", 5);
    if (!id) return 0;
    id += 5;
    size_t length = 0;
    while (id + length < message + count && id[length] != ',' && id[length] != '}') length++;
    if (pause_ms) {
        struct timespec time = {pause_ms / 1000, pause_ms % 1000 * 1000000};
        nanosleep(&time, NULL);
        pause_ms = 0;
    }
    const char *result = memmem(message, count, "\"tools/call\"", 12)  ? call
                         : memmem(message, count, "\"tools/list\"", 12) ? list
                                                                        : discover;
    return (size_t)sprintf(out, "{\"jsonrpc\":\"2.0\",\"id\":%.*s,\"result\":%s}", (int)length, id, result);
}

static void write_all(int file, const char *bytes, size_t count) {
    while (count) {
        ssize_t written = write(file, bytes, count);
        if (written <= 0) exit(0);
        bytes += written;
        count -= (size_t)written;
    }
}

static char in[room], out[4 * room];

static int serve_stdio(void) {
    size_t held = 0;
    for (;;) {
        ssize_t count = read(0, in + held, room - held);
        if (count <= 0) return 0;
        held += (size_t)count;
        char *start = in, *end;
        size_t ready = 0;
        while ((end = memchr(start, '\n', held - (size_t)(start - in)))) {
            size_t length = answer(start, (size_t)(end - start), out + ready);
            if (length) {
                ready += length;
                out[ready++] = '\n';
            }
            start = end + 1;
            if (ready > 2 * room) {
                write_all(1, out, ready);
                ready = 0;
            }
        }
        if (ready) write_all(1, out, ready);
        held -= (size_t)(start - in);
        memmove(in, start, held);
    }
}

// Answers the requests that are whole, and returns how many bytes they were.
static size_t serve_requests(int client, const char *bytes, size_t held) {
    size_t done = 0;
    for (;;) {
        const char *start = bytes + done, *end = memmem(start, held - done, "\r\n\r\n", 4);
        if (!end) return done;
        const char *length = strcasestr(start, "content-length:");
        size_t body = length && length < end ? (size_t)atol(length + 15) : 0;
        end += 4;
        if ((size_t)(end - bytes) + body > held) return done;
        static char json[2 * room];
        size_t count = answer(end, body, json);
        size_t head = count ? (size_t)sprintf(
                                  out, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n\r\n",
                                  count)
                            : (size_t)sprintf(out, "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n");
        memcpy(out + head, json, count);
        write_all(client, out, head + count);
        done = (size_t)(end - bytes) + body;
    }
}

static int serve_http(void) {
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    if (bind(listener, (struct sockaddr *)&address, size) || listen(listener, most)) return 1;
    getsockname(listener, (struct sockaddr *)&address, &size);
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);
    static struct pollfd files[most];
    static char *buffers[most];
    static size_t held[most];
    files[0] = (struct pollfd){.fd = listener, .events = POLLIN};
    // Whoever started this program ends it by closing its input.
    files[1] = (struct pollfd){.fd = 0, .events = POLLIN};
    nfds_t count = 2;
    while (poll(files, count, -1) > 0 && !files[1].revents) {
        if (files[0].revents && count < most) {
            files[count] = (struct pollfd){.fd = accept(listener, NULL, NULL), .events = POLLIN};
            setsockopt(files[count].fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
            buffers[count] = calloc(1, room);
            held[count++] = 0;
        }
        for (nfds_t i = 2; i < count; i++) {
            if (!files[i].revents) continue;
            ssize_t read_now = read(files[i].fd, buffers[i] + held[i], room - 1 - held[i]);
            if (read_now > 0) {
                held[i] += (size_t)read_now;
                buffers[i][held[i]] = 0;
                size_t done = serve_requests(files[i].fd, buffers[i], held[i]);
                held[i] -= done;
                memmove(buffers[i], buffers[i] + done, held[i] + 1);
                continue;
            }
            close(files[i].fd);
            free(buffers[i]);
            files[i] = files[--count];
            buffers[i] = buffers[count];
            held[i--] = held[count];
        }
    }
    return 0;
}

int main(int count, char **words) {
    pause_ms = count > 1 ? atol(words[1]) : 0;
    tools = count > 2 ? atol(words[2]) : 1;
    make_list();
    return count > 3 ? serve_http() : serve_stdio();
}
