/* What the floors have in common: the way to a controller, or to the kernel's L2CAP. */
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

static _Noreturn void fail(const char *what) {
  fprintf(stderr, "floor: %s: %s\n", what, strerror(errno));
  exit(1);
}

/* A socket for packets in H4 framing: user:hciN, an adapter's user channel, of which each read is one packet; or the path of
 * the controller's socket. */
static int open_controller(const char *place) {
  unsigned adapter;
  int stream;
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
  return stream;
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
#endif
