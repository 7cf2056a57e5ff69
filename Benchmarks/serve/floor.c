/* The floor of a server: the least that any program pays to send a notification, or to answer a read.
 *
 *     floor PATH CENTRALS COUNT
 *
 * Advertises until CENTRALS have connected, answers what they ask, and when all have subscribed, sends COUNT notifications
 * to each, while the controller has buffers for them. It knows its attributes by heart: it has no table, no permissions, no
 * timers and no errors but one.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "../packets.h"

enum { first_handle = 0x0040, value_handle = 3, most_centrals = 16 };

static int stream, credits, central_count, connected_count, subscribed_count;
static long sent[most_centrals];
static uint8_t input[1 << 16];
static size_t have, start;

static void fail(const char *what) {
  fprintf(stderr, "floor: %s: %s\n", what, strerror(errno));
  exit(1);
}

static void put(const void *bytes, size_t count) {
  if (write(stream, bytes, count) != (ssize_t)count) fail("write");
}

static void command(unsigned opcode, const void *parameters, uint8_t count) {
  uint8_t packet[64] = {1, opcode, opcode >> 8, count};
  memcpy(packet + 4, parameters, count);
  put(packet, 4 + count);
}

static void att(unsigned handle, const void *pdu, uint8_t count) {
  uint8_t packet[64] = {2, handle, handle >> 8, count + 4, 0, count, 0, attribute_channel};
  memcpy(packet + 9, pdu, count);
  put(packet, 9 + count);
  credits--;
}

static void on_att(unsigned handle, const uint8_t *pdu) {
  switch (pdu[0]) {
    case 0x02: return att(handle, (uint8_t[]){0x03, 5, 2}, 3);
    case 0x08:
      if (little16(pdu + 1) > 2) return att(handle, (uint8_t[]){0x01, 0x08, pdu[1], pdu[2], 0x0A}, 5);
      return att(handle, (uint8_t[]){0x09, 7, 2, 0, 0x12, value_handle, 0, 0x37, 0x2A}, 9);
    case 0x0A: return att(handle, (uint8_t[]){0x0B, 0, 60}, 3);
    case 0x12:
      subscribed_count++;
      return att(handle, (uint8_t[]){0x13}, 1);
  }
}

/* Handles what has come; the number of buffers that are free is known then. */
static void receive(void) {
  memmove(input, input + start, have - start);
  have -= start;
  start = 0;
  ssize_t count = read(stream, input + have, sizeof input - have);
  if (count <= 0) fail("read");
  have += count;
  while (have - start >= 5) {
    const uint8_t *packet = input + start;
    size_t length = packet[0] == 4 ? 3u + packet[2] : 5u + little16(packet + 3);
    if (have - start < length) return;
    if (packet[0] == 2) on_att(little16(packet + 1) & 0x0FFF, packet + 9);
    else if (packet[1] == 0x13) for (int i = 0; i < packet[3]; i++) credits += little16(packet + 6 + 4 * i);
    else if (packet[1] == 0x0E && little16(packet + 4) == 0x2002) credits = packet[9];
    else if (packet[1] == 0x3E && packet[3] == 1 && ++connected_count < central_count) command(0x200A, "\1", 1);
    start += length;
  }
}

int main(int argc, char **argv) {
  if (argc != 4) return 64;
  central_count = atoi(argv[2]);
  long count = atol(argv[3]);
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  snprintf(address.sun_path, sizeof address.sun_path, "%s", argv[1]);
  stream = socket(AF_UNIX, SOCK_STREAM, 0);
  if (connect(stream, (struct sockaddr *)&address, sizeof address)) fail(argv[1]);
  command(0x0C03, "", 0);
  command(0x2001, "\x1F\0\0\0\0\0\0", 8);
  command(0x2002, "", 0);
  command(0x200A, "\1", 1);
  while (subscribed_count < central_count) receive();
  for (long number = 0; number < count; number++) {
    for (int central = 0; central < central_count; central++) {
      while (credits <= 0) receive();
      uint8_t value[] = {0x1B, value_handle, 0, 0, number % 200};
      att(first_handle + central, value, sizeof value);
      sent[central]++;
    }
  }
  while (credits <= 0) receive();
  return 0;
}
