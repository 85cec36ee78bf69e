/* A model server that streams an answer as fast as the client reads it. Arguments: the number of chunks, and `each` to
   send every chunk in a separate system call, as real servers do, or `bulk` to send many together. Prints its port.
   It is written in C so that only the client is measured. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

static const char head[] = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n"
                           "Connection: close\r\n\r\n";
static const char event[] = "data: {\"id\":\"chatcmpl-9a7b1c\",\"object\":\"chat.completion.chunk\","
                            "\"created\":1763600000,\"model\":\"gpt-5-mini\",\"choices\":[{\"index\":0,\"delta\":{%s},"
                            "\"logprobs\":null,\"finish_reason\":%s}]}\n\n";

static char waiting[64 << 10];
static size_t filled;

/* Returns 0 when the client has closed. */
static int send_waiting(int connection)
{
    for (size_t sent = 0; sent < filled;) {
        ssize_t count = send(connection, waiting + sent, filled - sent, 0);
        if (count <= 0) return 0;
        sent += (size_t)count;
    }
    filled = 0;
    return 1;
}

static int write_chunk(int connection, const char *text, int at_once)
{
    if (filled + strlen(text) + 16 > sizeof waiting && !send_waiting(connection)) return 0;
    filled += (size_t)sprintf(waiting + filled, "%zx\r\n%s\r\n", strlen(text), text);
    return at_once ? send_waiting(connection) : 1;
}

static int read_request(int connection)
{
    char request[64 << 10];
    size_t length = 0, wanted = 0;
    while (!wanted || length < wanted) {
        ssize_t count = recv(connection, request + length, sizeof request - 1 - length, 0);
        if (count <= 0) return 0;
        request[length += (size_t)count] = 0;
        char *end = strstr(request, "\r\n\r\n");
        if (!wanted && end) {
            char *field = strcasestr(request, "\r\ncontent-length:");
            wanted = (size_t)(end + 4 - request) + (field && field < end ? strtoul(field + 17, NULL, 10) : 0);
        }
    }
    return 1;
}

static void answer(int connection, long count, int at_once)
{
    char delta[64], text[1024];
    if (send(connection, head, sizeof head - 1, 0) < 0) return;
    for (long number = 0; number < count; number++) {
        sprintf(delta, number ? "\"content\":\" word%ld\"" : "\"role\":\"assistant\",\"content\":\"first\"", number);
        sprintf(text, event, delta, "null");
        if (!write_chunk(connection, text, at_once)) return;
    }
    sprintf(text, event, "", "\"stop\"");
    if (write_chunk(connection, text, at_once) && write_chunk(connection, "data: [DONE]\n\n", at_once)) {
        filled += (size_t)sprintf(waiting + filled, "0\r\n\r\n");
        send_waiting(connection);
    }
}

int main(int argc, char **argv)
{
    if (argc != 3) return 2;
    signal(SIGPIPE, SIG_IGN);
    /* The parent process may have crashed. */
    alarm(900);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    if (bind(listener, (struct sockaddr *)&address, length) || listen(listener, 16)) return 1;
    getsockname(listener, (struct sockaddr *)&address, &length);
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);
    for (int connection; (connection = accept(listener, NULL, NULL)) >= 0; close(connection)) {
        setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        filled = 0;
        if (read_request(connection)) answer(connection, atol(argv[1]), strcmp(argv[2], "each") == 0);
    }
    return 1;
}
