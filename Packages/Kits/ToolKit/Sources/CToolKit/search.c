#include "CToolKit.h"

#include <stdint.h>
#include <string.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

// Every supported processor has vectors of this size.
typedef uint8_t lanes __attribute__((vector_size(16)));
typedef uint64_t halves __attribute__((vector_size(16)));

static lanes load(const unsigned char *place) {
    lanes value;
    memcpy(&value, place, sizeof value);
    return value;
}

static lanes filled(unsigned char byte) {
    lanes value = {0};
    return value + byte;
}

static bool any(lanes value) {
    halves parts = (halves)value;
    return (parts[0] | parts[1]) != 0;
}

static bool stands_at(const struct toolkit_text *text, const unsigned char *place) {
    for (size_t index = 0; index < text->length; index++)
        if ((place[index] | text->masks[index]) != text->bytes[index]) return false;
    return true;
}

// One bit for each lane whose comparison is true.
static uint32_t bits(lanes value) {
#ifdef __SSE2__
    return (uint32_t)_mm_movemask_epi8((__m128i)value);
#else
    if (!any(value)) return 0;
    uint32_t found = 0;
    for (size_t lane = 0; lane < sizeof value; lane++) found |= (uint32_t)(value[lane] & 1) << lane;
    return found;
#endif
}

// Finds the first place before `end` where the two rare bytes match, and then the rest of the text; `end` if there is
// none. No lane may be after the last place where the text fits.
#define FIND(name, type, step, set, mask)                                                                      \
    static size_t name(const struct toolkit_text *text, const unsigned char *start, size_t place, size_t end) { \
        const unsigned char *firsts = start + text->first, *seconds = start + text->second;                    \
        type first = set(text->bytes[text->first]), second = set(text->bytes[text->second]);                   \
        type first_mask = set(text->masks[text->first]), second_mask = set(text->masks[text->second]);         \
        for (; place < end; place += step) {                                                                   \
            type one, two;                                                                                     \
            memcpy(&one, firsts + place, step);                                                                \
            memcpy(&two, seconds + place, step);                                                               \
            uint32_t found = mask(((one | first_mask) == first) & ((two | second_mask) == second));            \
            for (; found; found &= found - 1) {                                                                \
                size_t lane = (size_t)__builtin_ctz(found);                                                    \
                if (stands_at(text, start + place + lane)) return place + lane;                                \
            }                                                                                                  \
        }                                                                                                      \
        return end;                                                                                            \
    }

FIND(find, lanes, 16, filled, bits)

#ifdef __x86_64__
// Twice as many lanes, if the processor supports them.
typedef uint8_t wide __attribute__((vector_size(32)));
#define AVX2 __attribute__((target("avx2"), always_inline))
AVX2 static inline wide filled_wide(unsigned char byte) { return (wide)_mm256_set1_epi8((char)byte); }
AVX2 static inline uint32_t bits_wide(wide value) { return (uint32_t)_mm256_movemask_epi8((__m256i)value); }
__attribute__((target("avx2"))) FIND(find_wide, wide, 32, filled_wide, bits_wide)
#endif

ssize_t toolkit_find(const struct toolkit_text *text, const void *bytes, size_t count) {
    const unsigned char *start = bytes;
    if (count < text->length) return -1;
    size_t places = count - text->length + 1;
    size_t place = 0, end = 0;
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx2")) {
        end = places & ~(size_t)31;
        place = find_wide(text, start, 0, end);
        if (place < end) return (ssize_t)place;
    }
#endif
    end = place + ((places - place) & ~(size_t)15);
    place = find(text, start, place, end);
    if (place < end) return (ssize_t)place;
    for (; place < places; place++)
        if (stands_at(text, start + place)) return (ssize_t)place;
    return -1;
}

bool toolkit_is_ascii(const void *bytes, size_t count) {
    const unsigned char *start = bytes;
    size_t place = 0;
    lanes seen = {0};
    for (; place + 16 <= count; place += 16) seen |= load(start + place);
    unsigned char rest = 0;
    for (; place < count; place++) rest |= start[place];
    return !any(seen & 0x80) && rest < 0x80;
}

ssize_t toolkit_find_run(const unsigned char *members, size_t length, const void *bytes, size_t count) {
    const unsigned char *start = bytes;
    size_t begin = 0;
    while (count - begin >= length && count >= begin) {
        size_t place = begin + length;
        while (place > begin && members[start[place - 1]]) place--;
        if (place == begin) return (ssize_t)begin;
        // The byte before does not belong to the set, so no run begins before this place.
        begin = place;
    }
    return -1;
}
