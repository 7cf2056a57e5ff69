#pragma once

#include <stdint.h>

/// How often this process has asked for memory from the heap, in any thread, since it started.
uint64_t allocation_count(void);
