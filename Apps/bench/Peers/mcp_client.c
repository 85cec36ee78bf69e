// Calls a tool of an MCP server with blocking reads and writes, as fast as it can, and prints the median of one call in
// nanoseconds and the calls a second.
//   mcp_client pipe CALLS AT-ONCE MESSAGE PROGRAM ARGUMENT…   over the standard input and output of a program
//   mcp_client threads …                                      the same, each at once in a thread that blocks in its call
//   mcp_client http CALLS AT-ONCE REQUEST PORT                each at once over a connection of its own
// The message has no id yet: `@` stands for it. The request is whole, with its head.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { room = 1 << 20, most = 100 };

static long calls, at_once;
static char in[room];

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void fail(const char *reason) {
    fprintf(stderr, "mcp_client: %s\n", reason);
    exit(1);
}

static void write_all(int file, const char *bytes, size_t count) {
    while (count) {
        ssize_t written = write(file, bytes, count);
        if (written <= 0) fail("the server no longer reads");
        bytes += written;
        count -= (size_t)written;
    }
}

static int earlier(const void *one, const void *other) {
    double difference = *(const double *)one - *(const double *)other;
    return difference < 0 ? -1 : difference > 0;
}

static void report(double *times, double whole) {
    qsort(times, (size_t)calls, sizeof *times, earlier);
    printf("%.0f %.0f\n", times[calls / 2], (double)calls / (whole / 1e9));
}

// MARK: Pipes

static char before[room / 4], after[room / 4];

static size_t message(long id, char *out) { return (size_t)sprintf(out, "%s%ld%s\n", before, id, after); }

// The pipes to a program that has answered its first call.
static void start(const char *text, char **program, int *input, int *output) {
    const char *mark = strchr(text, '@');
    if (!mark) fail("the message has no @");
    memcpy(before, text, (size_t)(mark - text));
    strcpy(after, mark + 1);
    int to[2], from[2];
    if (pipe2(to, O_CLOEXEC) || pipe2(from, O_CLOEXEC)) fail("no pipes");
    pid_t child = fork();
    if (child == 0) {
        dup2(to[0], 0);
        dup2(from[1], 1);
        execvp(program[0], program);
        _exit(127);
    }
    close(to[0]);
    close(from[1]);
    // The first call waits for the start of the program, and is not counted.
    static char out[room];
    write_all(to[1], out, message(calls + 1000, out));
    size_t held = 0;
    while (!memchr(in, '\n', held)) {
        ssize_t count = read(from[0], in + held, room - held);
        if (count <= 0) fail("the server ended before it answered");
        held += (size_t)count;
    }
    if (!memmem(in, held, "\"result\"", 8)) fail(in);
    *input = to[1];
    *output = from[0];
}

static void over_pipes(const char *text, char **program) {
    int input, output;
    start(text, program, &input, &output);
    double *times = calloc((size_t)calls, sizeof *times), *begun = calloc((size_t)calls, sizeof *begun);
    static char out[room];
    size_t held = 0;
    double begin = now();
    long sent = 0, answered = 0;
    while (answered < calls) {
        size_t ready = 0;
        while (sent < calls && sent - answered < at_once && ready < room / 2) {
            begun[sent] = now();
            ready += message(++sent, out + ready);
        }
        if (ready) write_all(input, out, ready);
        ssize_t count = read(output, in + held, room - held);
        if (count <= 0) fail("the server ended in a call");
        held += (size_t)count;
        char *line = in, *end;
        double time = now();
        while ((end = memchr(line, '\n', held - (size_t)(line - in)))) {
            char *id = memmem(line, (size_t)(end - line), "\"id\":", 5);
            long number = id ? atol(id + 5) : 0;
            if (number >= 1 && number <= sent) {
                times[number - 1] = time - begun[number - 1];
                answered++;
            }
            line = end + 1;
        }
        held -= (size_t)(line - in);
        memmove(in, line, held);
    }
    report(times, now() - begin);
    close(input);
    wait(NULL);
}

// MARK: Threads

static struct caller {
    pthread_t thread;
    pthread_cond_t answered;
    long id;
} callers[most];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int to_server;
static long next_id;
static double *call_times;

static void *call_in_turn(void *which) {
    struct caller *caller = which;
    char *text = malloc(room);
    for (long i = 0; i < calls / at_once; i++) {
        double begin = now();
        pthread_mutex_lock(&lock);
        // The number of the caller is part of the id, so that the answer finds it.
        caller->id = ++next_id * most + (caller - callers);
        write_all(to_server, text, message(caller->id, text));
        while (caller->id) pthread_cond_wait(&caller->answered, &lock);
        pthread_mutex_unlock(&lock);
        call_times[(caller - callers) * (calls / at_once) + i] = now() - begin;
    }
    return NULL;
}

static void in_threads(const char *text, char **program) {
    int output;
    start(text, program, &to_server, &output);
    calls -= calls % at_once;
    call_times = calloc((size_t)calls, sizeof *call_times);
    double begin = now();
    for (long i = 0; i < at_once; i++) {
        pthread_cond_init(&callers[i].answered, NULL);
        pthread_create(&callers[i].thread, NULL, call_in_turn, &callers[i]);
    }
    size_t held = 0;
    for (long answered = 0; answered < calls;) {
        ssize_t count = read(output, in + held, room - held);
        if (count <= 0) fail("the server ended in a call");
        held += (size_t)count;
        char *line = in, *end;
        pthread_mutex_lock(&lock);
        while ((end = memchr(line, '\n', held - (size_t)(line - in)))) {
            char *id = memmem(line, (size_t)(end - line), "\"id\":", 5);
            struct caller *caller = &callers[(id ? atol(id + 5) : 0) % most];
            caller->id = 0;
            pthread_cond_signal(&caller->answered);
            answered++;
            line = end + 1;
        }
        pthread_mutex_unlock(&lock);
        held -= (size_t)(line - in);
        memmove(in, line, held);
    }
    for (long i = 0; i < at_once; i++) pthread_join(callers[i].thread, NULL);
    report(call_times, now() - begin);
    close(to_server);
    wait(NULL);
}


// MARK: HTTP

static int connected(int port) {
    int file = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons((uint16_t)port)};
    if (connect(file, (struct sockaddr *)&address, sizeof address)) fail("cannot connect");
    setsockopt(file, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return file;
}

// Whether an answer is whole, with a length or in chunks.
static int is_whole(const char *bytes, size_t count) {
    const char *head = memmem(bytes, count, "\r\n\r\n", 4);
    if (!head) return 0;
    if (memcmp(bytes + 9, "200", 3)) fail(bytes);
    const char *length = strcasestr(bytes, "content-length:");
    if (length && length < head) return count >= (size_t)(head + 4 - bytes) + (size_t)atol(length + 15);
    return count >= 7 && !memcmp(bytes + count - 7, "\r\n0\r\n\r\n", 7);
}

static void over_http(const char *request, int port) {
    size_t length = strlen(request);
    static struct pollfd files[most];
    static char *buffers[most];
    static size_t held[most];
    static double begun[most];
    double *times = calloc((size_t)calls, sizeof *times);
    for (long i = 0; i < at_once; i++) {
        files[i] = (struct pollfd){.fd = connected(port), .events = POLLIN};
        buffers[i] = malloc(room);
    }
    long sent = 0, answered = 0;
    double start = now();
    for (long i = 0; i < at_once && sent < calls; i++, sent++) {
        begun[i] = now();
        write_all(files[i].fd, request, length);
    }
    while (answered < calls) {
        if (poll(files, (nfds_t)at_once, -1) < 0) fail("poll");
        for (long i = 0; i < at_once; i++) {
            if (!files[i].revents) continue;
            ssize_t count = read(files[i].fd, buffers[i] + held[i], room - 1 - held[i]);
            if (count <= 0) fail("the server closed a connection");
            held[i] += (size_t)count;
            buffers[i][held[i]] = 0;
            if (!is_whole(buffers[i], held[i])) continue;
            if (!strstr(buffers[i], "\"result\"")) fail(buffers[i]);
            double time = now();
            times[answered++] = time - begun[i];
            held[i] = 0;
            if (sent >= calls) continue;
            sent++;
            begun[i] = time;
            write_all(files[i].fd, request, length);
        }
    }
    report(times, now() - start);
}

int main(int count, char **words) {
    if (count < 6) return 2;
    calls = atol(words[2]);
    at_once = atol(words[3]);
    if (calls < 1 || at_once < 1 || at_once > most) return 2;
    if (!strcmp(words[1], "pipe"))
        over_pipes(words[4], words + 5);
    else if (!strcmp(words[1], "threads"))
        in_threads(words[4], words + 5);
    else
        over_http(words[4], atoi(words[5]));
    return 0;
}
