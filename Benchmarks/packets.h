/* What each program of a benchmark in C knows of packets. */
#ifndef PACKETS_H
#define PACKETS_H
#include <stdint.h>

enum { attribute_channel = 4 };

static inline unsigned little16(const uint8_t *p) { return p[0] | (unsigned)p[1] << 8; }
#endif
