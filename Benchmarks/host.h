/* What the floors have in common: the way to a controller, or to the kernel's L2CAP, and what goes over it. */
#ifndef HOST_H
#define HOST_H
#include <bluetooth/bluetooth.h>
#include <bluetooth/hci.h>
#include <bluetooth/l2cap.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "packets.h"

/* A controller's packets in H4 framing, or with is_l2cap, the PDUs of the kernel's L2CAP socket. */
static int stream, is_l2cap;
/* What was read and not handled: from `start`, up to `have`. */
static uint8_t input[1 << 16];
static size_t have, start;

static _Noreturn void fail(const char *what) {
  fprintf(stderr, "floor: %s: %s\n", what, strerror(errno));
  exit(1);
}

/* Opens user:hciN, an adapter's user channel, of which each read is one packet; or the path of the controller's socket. */
static void open_controller(const char *place) {
  unsigned adapter;
  if (sscanf(place, "user:hci%u", &adapter) == 1) {
    stream = socket(AF_BLUETOOTH, SOCK_RAW, BTPROTO_HCI);
    struct sockaddr_hci address = {.hci_family = AF_BLUETOOTH, .hci_dev = adapter, .hci_channel = HCI_CHANNEL_USER};
    if (bind(stream, (struct sockaddr *)&address, sizeof address)) fail(place);
  } else {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", place);
    stream = socket(AF_UNIX, SOCK_STREAM, 0);
    if (connect(stream, (struct sockaddr *)&address, sizeof address)) fail(place);
  }
}

/* An address for ATT. */
static struct sockaddr_l2 attribute_address(void) {
  return (struct sockaddr_l2){.l2_family = AF_BLUETOOTH, .l2_cid = attribute_channel, .l2_bdaddr_type = BDADDR_LE_PUBLIC};
}

/* The kernel's L2CAP socket for ATT, bound on any adapter. Each read is one PDU. */
static int open_l2cap(void) {
  int stream = socket(AF_BLUETOOTH, SOCK_SEQPACKET, BTPROTO_L2CAP);
  struct sockaddr_l2 own = attribute_address();
  if (bind(stream, (struct sockaddr *)&own, sizeof own)) fail("bind");
  return stream;
}

/* Reads what has come. */
static void fill(void) {
  memmove(input, input + start, have - start);
  have -= start;
  start = 0;
  ssize_t count = read(stream, input + have, sizeof input - have);
  if (count <= 0) fail("read");
  have += count;
}

static void put(int descriptor, const void *bytes, size_t count) {
  if (count > 0 && write(descriptor, bytes, count) != (ssize_t)count) fail("write");
}

static void send_command(unsigned opcode, const void *parameters, uint8_t count) {
  uint8_t packet[64] = {1, opcode, opcode >> 8, count};
  memcpy(packet + 4, parameters, count);
  put(stream, packet, 4 + count);
}

static void send_att(unsigned handle, const void *pdu, uint8_t count) {
  if (is_l2cap) return put(stream, pdu, count);
  uint8_t packet[64] = {2, handle, handle >> 8, count + 4, 0, count, 0, attribute_channel};
  memcpy(packet + 9, pdu, count);
  put(stream, packet, 9 + count);
}
#endif
