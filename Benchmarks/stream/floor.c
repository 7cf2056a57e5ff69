/* The floor of `halo-raw stream`: the least that any program pays to print a line per notification.
 *
 *     floor PLACE COUNT [--batch]
 *
 * PLACE is the path of the controller's socket; user:hciN, an adapter's user channel; or hciN, the kernel's L2CAP socket
 * through that adapter. Starts the ring's stream, and prints COUNT samples as `halo-raw stream --ppg --format jsonl`
 * does: it checks the headers of H4, ACL, L2CAP and ATT, where the kernel does not, and the frame's checksum, and formats
 * with snprintf. It knows the ring's address and handles, has no timers and no other link, and sends no second request.
 * A line is written as soon as it is made; with --batch, the lines of one read with one write.
 */
#include <time.h>

#include "../host.h"
#include "ring.h"

static char time_prefix[32], time_suffix[64];

/* The next complete packet, or PDU of the kernel's L2CAP, that has been read; NULL if there is none. */
static const uint8_t *next(size_t *length) {
  const uint8_t *packet = input + start;
  size_t left = have - start;
  if (is_l2cap && left > 0) *length = left;
  else if (left >= 5 && packet[0] == 2) *length = 5 + little16(packet + 3);
  else if (left >= 3 && packet[0] == 4) *length = 3 + packet[2];
  else return NULL;
  if (left < *length) return NULL;
  start += *length;
  return packet;
}

static void wait_for_event(uint8_t code) {
  for (size_t length;;) {
    const uint8_t *packet = next(&length);
    if (!packet) fill();
    else if (packet[0] == 4 && packet[1] == code) return;
  }
}

static void wait_for_att(uint8_t opcode) {
  for (size_t length;;) {
    const uint8_t *packet = next(&length);
    if (!packet) fill();
    else if (is_l2cap ? packet[0] == opcode : packet[0] == 2 && packet[9] == opcode) return;
  }
}

static void command(unsigned opcode, const void *parameters, uint8_t count, uint8_t answer) {
  send_command(opcode, parameters, count);
  wait_for_event(answer);
}

static void att(const void *pdu, uint8_t count) { send_att(link_handle, pdu, count); }

static void connect_l2cap(void) {
  is_l2cap = 1;
  stream = open_l2cap();
  struct sockaddr_l2 ring = attribute_address();
  memcpy(&ring.l2_bdaddr, ring_address, sizeof ring_address);
  if (connect(stream, (struct sockaddr *)&ring, sizeof ring)) fail("connect");
}

static void connect_controller(const char *place) {
  open_controller(place);
  command(0x0C03, "", 0, 0x0E);
  command(0x2001, "\x1F\0\0\0\0\0\0", 8, 0x0E);
  uint8_t connection[25] = {0x60, 0, 0x30, 0, 0, 0, [12] = 0, 6, 0, 12, 0, 0, 0, 200};
  memcpy(connection + 6, ring_address, 6);
  command(0x200D, connection, sizeof connection, 0x3E);
}

static void set_up(const char *place) {
  if (!strncmp(place, "hci", 3)) connect_l2cap(); else connect_controller(place);
  att((uint8_t[]){0x12, cccd_handle, 0, 1, 0}, 5);
  wait_for_att(0x13);
}

static void control(uint8_t what) {
  uint8_t pdu[3 + frame_length] = {0x52, rx_handle, 0, 0xA1, what};
  pdu[2 + frame_length] = checksum(pdu + 3);
  att(pdu, sizeof pdu);
}

/* The frame of a notification; NULL for any other packet. */
static const uint8_t *frame_of(const uint8_t *packet, size_t length) {
  const uint8_t *pdu = packet;
  if (!is_l2cap) {
    if (packet[0] != 2 || length != notification_length) return NULL;
    if ((little16(packet + 1) & 0x3FFF) != (0x2000 | link_handle)) return NULL;
    if (little16(packet + 5) + 9 != length || little16(packet + 7) != attribute_channel) return NULL;
    pdu += 9;
    length -= 9;
  }
  if (length != 3 + frame_length || pdu[0] != 0x1B || little16(pdu + 1) != tx_handle) return NULL;
  const uint8_t *frame = pdu + 3;
  if (checksum(frame) != frame[frame_length - 1]) return NULL;
  return frame[0] == 0xA1 && frame[1] == 2 ? frame : NULL;
}

/* The time of day of a second, and what follows its fraction; both are made once a second. */
static void begin_second(time_t second) {
  struct tm parts;
  localtime_r(&second, &parts);
  strftime(time_prefix, sizeof time_prefix, "%Y-%m-%dT%H:%M:%S.", &parts);
  long minutes = labs(parts.tm_gmtoff) / 60;
  const uint8_t *a = ring_address;
  snprintf(time_suffix, sizeof time_suffix, "%c%02ld:%02ld\",\"ring\":\"%02X:%02X:%02X:%02X:%02X:%02X\"",
           parts.tm_gmtoff < 0 ? '-' : '+', minutes / 60, minutes % 60, a[5], a[4], a[3], a[2], a[1], a[0]);
}

int main(int argc, char **argv) {
  if (argc < 3) {
    fprintf(stderr, "usage: floor PLACE COUNT [--batch]\n");
    return 64;
  }
  long count = atol(argv[2]);
  int batches = argc > 3 && !strcmp(argv[3], "--batch");
  static char output[1 << 19];
  size_t used = 0;
  long long origin = 0, second = 0;
  struct timespec monotonic, wall;
  clock_gettime(CLOCK_MONOTONIC, &monotonic);
  clock_gettime(CLOCK_REALTIME, &wall);
  long long ahead = (wall.tv_sec - monotonic.tv_sec) * 1000000LL + (wall.tv_nsec - monotonic.tv_nsec) / 1000;
  set_up(argv[1]);
  control(4);
  for (long printed = 0; printed < count;) {
    fill();
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    long long microseconds = time.tv_sec * 1000000LL + time.tv_nsec / 1000;
    const uint8_t *packet;
    for (size_t length; printed < count && (packet = next(&length));) {
      const uint8_t *frame = frame_of(packet, length);
      if (!frame) continue;
      if (printed++ == 0) origin = microseconds;
      long long elapsed = microseconds - origin;
      long long unix_time = microseconds + ahead;
      if (unix_time / 1000000 != second) begin_second(second = unix_time / 1000000);
      used += snprintf(output + used, 256,
                       "{\"t\":%lld.%06lld,\"time\":\"%s%06lld%s,\"seq\":%ld,\"kind\":\"ppg\",\"raw\":%u,\"max\":%u,"
                       "\"min\":%u,\"diff\":%u}\n",
                       elapsed / 1000000, elapsed % 1000000, time_prefix, unix_time % 1000000, time_suffix, printed - 1,
                       big16(frame + 2), big16(frame + 4), big16(frame + 6), big16(frame + 8));
      if (batches) continue;
      put(STDOUT_FILENO, output, used);
      used = 0;
    }
    put(STDOUT_FILENO, output, used);
    used = 0;
  }
  control(2);
  if (!is_l2cap) command(0x0406, (uint8_t[]){link_handle & 0xFF, link_handle >> 8, 0x13}, 3, 0x05);
  return 0;
}
