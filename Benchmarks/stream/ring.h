/* The first ring of the benchmark, as the controller offers it and the floor uses it without asking. */
#ifndef RING_H
#define RING_H
#include "../packets.h"

enum {
  link_handle = 0x0040,
  rx_handle = 6,    /* commands are written here */
  tx_handle = 8,    /* frames are notified here */
  cccd_handle = 9,  /* of tx_handle */
  frame_length = 16,
  /* type byte, ACL header, L2CAP header, opcode and handle, frame */
  notification_length = 1 + 4 + 4 + 3 + frame_length,
};

/* Public, least significant byte first. */
static const uint8_t ring_address[6] = {0xB2, 0xA1, 0x33, 0x22, 0x11, 0xC0};

static inline unsigned big16(const uint8_t *p) { return p[1] | (unsigned)p[0] << 8; }

/* The sum of a frame's bytes but the last. */
static inline uint8_t checksum(const uint8_t *frame) {
  uint8_t sum = 0;
  for (int i = 0; i < frame_length - 1; i++) sum += frame[i];
  return sum;
}
#endif
