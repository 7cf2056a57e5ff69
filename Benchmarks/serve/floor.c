/* The floor of a server: the least that any program pays to send a notification, or to answer a read.
 *
 *     floor PLACE CENTRALS COUNT
 *
 * PLACE is the path of the controller's socket; user:hciN, an adapter's user channel; or hciN, the kernel's L2CAP socket
 * through that adapter, for one central. Advertises until CENTRALS have connected, answers what they ask, and when all have
 * subscribed, sends COUNT notifications to each, while the controller has buffers for them. It knows its attributes by heart:
 * it has no table, no permissions, no timers and no errors but one.
 */
#include "../host.h"

enum { first_handle = 0x0040, value_handle = 3 };

static int buffers, credits, central_count, connected_count, subscribed_count;

static void att(unsigned handle, const void *pdu, uint8_t count) {
  send_att(handle, pdu, count);
  if (!is_l2cap) credits--;
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
  fill();
  if (is_l2cap) {
    start = have;
    return on_att(0, input);
  }
  while (have - start >= 5) {
    const uint8_t *packet = input + start;
    size_t length = packet[0] == 4 ? 3u + packet[2] : 5u + little16(packet + 3);
    if (have - start < length) return;
    if (packet[0] == 2) on_att(little16(packet + 1) & 0x0FFF, packet + 9);
    else if (packet[1] == 0x13) for (int i = 0; i < packet[3]; i++) credits += little16(packet + 6 + 4 * i);
    else if (packet[1] == 0x0E && little16(packet + 4) == 0x2002) credits = buffers = packet[9];
    else if (packet[1] == 0x3E && packet[3] == 1 && ++connected_count < central_count) send_command(0x200A, "\1", 1);
    start += length;
  }
}

/* Has the kernel advertise (Add Advertising of its management), and takes the link of the central. The kernel has buffers of
 * its own, and waits for those of the controller. */
static void listen_l2cap(unsigned adapter) {
  int listener = open_l2cap();
  if (listen(listener, 1)) fail("listen");
  int management = socket(AF_BLUETOOTH, SOCK_RAW, BTPROTO_HCI);
  struct sockaddr_hci control = {.hci_family = AF_BLUETOOTH, .hci_dev = HCI_DEV_NONE, .hci_channel = HCI_CHANNEL_CONTROL};
  if (bind(management, (struct sockaddr *)&control, sizeof control)) fail("the kernel's management");
  const uint8_t advertise[] = {0x3E, 0, adapter, 0, 11, 0, 1, 1, [16] = 0};
  if (write(management, advertise, sizeof advertise) != sizeof advertise) fail("Add Advertising");
  stream = accept(listener, NULL, NULL);
  if (stream < 0) fail("accept");
  is_l2cap = credits = 1;
}

static void advertise(const char *place) {
  open_controller(place);
  send_command(0x0C03, "", 0);
  send_command(0x2001, "\x1F\0\0\0\0\0\0", 8);
  send_command(0x2002, "", 0);
  send_command(0x200A, "\1", 1);
}

int main(int argc, char **argv) {
  unsigned adapter;
  if (argc != 4) return 64;
  central_count = atoi(argv[2]);
  long count = atol(argv[3]);
  if (sscanf(argv[1], "hci%u", &adapter) == 1) listen_l2cap(adapter); else advertise(argv[1]);
  while (subscribed_count < central_count) receive();
  for (long number = 0; number < count; number++) {
    for (int central = 0; central < central_count; central++) {
      while (credits <= 0) receive();
      uint8_t value[] = {0x1B, value_handle, 0, 0, number % 200};
      att(first_handle + central, value, sizeof value);
    }
  }
  /* The kernel would forget what it has not sent yet. */
  while (credits < buffers) receive();
  if (is_l2cap) while (read(stream, input, sizeof input) > 0) {}
  return 0;
}
