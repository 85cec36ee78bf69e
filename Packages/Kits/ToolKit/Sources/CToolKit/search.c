#include "CToolKit.h"

#include <stdint.h>
#include <string.h>

// Every processor that is supported has vectors of this size; the compiler knows how.
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

ssize_t toolkit_find(const struct toolkit_text *text, const void *bytes, size_t count) {
    const unsigned char *start = bytes;
    if (count < text->length) return -1;
    size_t last = count - text->length;
    size_t place = 0;
    const unsigned char *firsts = start + text->first, *seconds = start + text->second;
    lanes first = filled(text->bytes[text->first]), second = filled(text->bytes[text->second]);
    lanes first_mask = filled(text->masks[text->first]), second_mask = filled(text->masks[text->second]);
    // No lane lies behind the last place where the text fits.
    for (; place + 31 <= last; place += 32) {
        lanes low = ((load(firsts + place) | first_mask) == first) & ((load(seconds + place) | second_mask) == second);
        lanes high = ((load(firsts + place + 16) | first_mask) == first)
            & ((load(seconds + place + 16) | second_mask) == second);
        if (!any(low | high)) continue;
        for (size_t lane = 0; lane < 32; lane++)
            if ((lane < 16 ? low[lane] : high[lane - 16]) && stands_at(text, start + place + lane))
                return (ssize_t)(place + lane);
    }
    for (; place <= last; place++)
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
        // The byte before does not belong to it, so that none of those until here begins a run.
        begin = place;
    }
    return -1;
}
