// Posts the same bytes to an HTTP server again and again with libcurl, and prints the median of one in nanoseconds.
// Arguments: the address, how often, the body, and the headers.
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static char answer[1 << 16];
static size_t held;

static size_t keep(char *bytes, size_t size, size_t count, void *unused) {
    (void)unused;
    size_t length = size * count;
    if (held + length > sizeof answer) return 0;
    memcpy(answer + held, bytes, length);
    held += length;
    return length;
}

static int earlier(const void *one, const void *other) {
    double difference = *(const double *)one - *(const double *)other;
    return difference < 0 ? -1 : difference > 0;
}

int main(int count, char **words) {
    if (count < 4) return 2;
    long calls = atol(words[2]);
    CURL *curl = curl_easy_init();
    struct curl_slist *headers = NULL;
    for (int i = 4; i < count; i++) headers = curl_slist_append(headers, words[i]);
    curl_easy_setopt(curl, CURLOPT_URL, words[1]);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, words[3]);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE, (long)strlen(words[3]));
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, keep);
    curl_easy_setopt(curl, CURLOPT_FAILONERROR, 1L);
    double *times = calloc((size_t)calls, sizeof *times);
    // The first one connects.
    for (long i = -1; i < calls; i++) {
        held = 0;
        double start = now();
        CURLcode code = curl_easy_perform(curl);
        if (code != CURLE_OK) {
            fprintf(stderr, "%s\n", curl_easy_strerror(code));
            return 1;
        }
        if (i >= 0) times[i] = now() - start;
    }
    qsort(times, (size_t)calls, sizeof *times, earlier);
    printf("%.0f\n", times[calls / 2]);
    return 0;
}
