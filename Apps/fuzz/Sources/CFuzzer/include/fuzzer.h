#pragma once

#include <stddef.h>
#include <stdint.h>

/// libFuzzer's entry, which `-sanitize=fuzzer` links.
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*test)(const uint8_t *data, size_t count));
