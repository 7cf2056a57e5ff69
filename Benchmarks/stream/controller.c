/* A controller with rings behind it, in H4 framing: the other side of each program that is measured.
 *
 *     controller [--rings N] PLACE MODE COUNT CLIENT...
 *
 *     controller PLACE flood       COUNT CLIENT...   notifications as fast as the socket takes them
 *     controller PLACE RATE        COUNT CLIENT...   RATE a second; with 0, each as soon as the line of the last is there
 *     controller PLACE RATE,unread COUNT CLIENT...   RATE a second; lines go to /dev/null
 *
 * PLACE: see controller.h. CLIENT sets up the controller, finds the ring, connects and starts the raw stream; COUNT
 * notifications are sent, of each ring in turn when there are several (R02_A1B2, R02_A1B3 ...). Prints one JSON object: CPU
 * time of the client between the start and the stop command; `slope`, that of a notification without the first quarter of
 * them; the time between start and stop; and, if lines are read, the delays from before the write of a packet to after the
 * read of its line. The values of the samples count up, so that a reader of the lines can check their order.
 */
#define _GNU_SOURCE
#include <sys/wait.h>

#include "../controller.h"
#include "ring.h"

static int lines;
static int is_scanning, is_stopped;
/* Each ring has the address and the connection handle of the one before it, plus one. */
static struct { int is_linked, is_started; } rings[64];
static int ring_count = 1, started_count;
/* The ring whose packet is handled. */
static int current;
static double stop_time, stop_cpu, slope;

/* --- packets ---------------------------------------------------------------------------------------------------- */

static void att(const void *pdu, uint8_t count) { send_att(link_handle + current, pdu, count); }

static void refuse(const uint8_t *pdu, unsigned handle, uint8_t code) {
  att((uint8_t[]){0x01, pdu[0], handle, handle >> 8, code}, 5);
}

enum { wave = 2, acceleration = 3 };

static void write_frame(uint8_t *packet, unsigned handle, uint8_t kind, unsigned raw) {
  const uint8_t header[] = {2, handle & 0xFF, 0x20 | handle >> 8, 3 + frame_length + 4, 0, 3 + frame_length, 0,
    attribute_channel, 0, 0x1B, tx_handle, 0};
  memcpy(packet, header, sizeof header);
  uint8_t *frame = packet + sizeof header;
  memcpy(frame, (uint8_t[frame_length]){0xA1, kind, raw >> 8, raw, 0x2D, 0x50, 0x2A, 0x94, 0x02, 0xBC, 1}, frame_length);
  frame[frame_length - 1] = checksum(frame);
}

static void write_notification(uint8_t *packet, uint32_t number) {
  write_frame(packet, link_handle + number % ring_count, wave, number / ring_count % 60000 + 1);
}

/* --- the controller --------------------------------------------------------------------------------------------- */

/* A ring without a link advertises, and only while no other is being set up: a client that is slow, under callgrind on a busy
 * machine, would not be done with all of them before its own deadlines. Each run so has the same work to do. */
static void advertise(void) {
  for (int ring = 0; ring < ring_count; ring++)
    if (rings[ring].is_linked && !rings[ring].is_started) return;
  for (int ring = 0; ring < ring_count; ring++) {
    if (rings[ring].is_linked) continue;
    uint8_t report[12 + 13] = {2, 1, 0, 0, [10] = 13, 2, 1, 6, 9, 9};
    char name[9];
    memcpy(report + 4, ring_address, 6);
    report[4] += ring;
    snprintf(name, sizeof name, "R02_%02X%02X", report[5], report[4]);
    memcpy(report + 16, name, 8);
    report[24] = (uint8_t)-50;
    event(0x3E, report, sizeof report);
    return;
  }
}

/* The least significant byte is the first. */
static void connect_ring(const uint8_t *address) {
  int ring = address[0] - ring_address[0];
  if (ring < 0 || ring >= ring_count) fail("a link to a stranger");
  unsigned handle = link_handle + ring;
  rings[ring].is_linked = 1;
  uint8_t parameters[19] = {1, 0, handle & 0xFF, handle >> 8, 0, 0, [12] = 12, [16] = 200};
  memcpy(parameters + 6, address, 6);
  event(0x3E, parameters, sizeof parameters);
}

/* A ring without a link is stopped, and advertises. */
static void unlink_ring(int ring) {
  if (ring < 0 || ring >= ring_count) fail("the end of a link to a stranger");
  started_count -= rings[ring].is_started;
  rings[ring].is_linked = rings[ring].is_started = 0;
}

static void on_command(const uint8_t *command) {
  unsigned opcode = little16(command);
  switch (opcode) {
    case 0x0406: /* Disconnect */
      unlink_ring(little16(command + 3) - link_handle);
      return answer_command(command);
    case 0x0C03: /* Reset */
      for (int ring = 0; ring < ring_count; ring++) unlink_ring(ring);
      is_scanning = 0;
      return answer_command(command);
    case 0x200C: /* Set Scan Enable */
      is_scanning = command[3];
      return answer_command(command);
    case 0x200D:
      accept_command(opcode);
      return connect_ring(command + 9);
    default: return answer_command(command);
  }
}

/* --- the ring's attributes -------------------------------------------------------------------------------------- */

#define UART(high, low) 0x9E, 0xCA, 0xDC, 0x24, 0x0E, 0xE5, 0xA9, 0xE0, 0x93, 0xF3, 0xA3, 0xB5, low, high, 0x40, 0x6E

static const struct attribute {
  uint16_t type, end; /* 0 for a type of 128 bits; the last handle of a service */
  uint8_t length, value[24];
} attributes[] = {
  {0x2800, 3, 2, {0x0A, 0x18}},                               /* 1 Device Information */
  {0x2803, 0, 5, {0x02, 3, 0, 0x26, 0x2A}},                   /* 2 */
  {0x2A26, 0, 13, "RT02_3.00.17"},                            /* 3 Firmware Revision */
  {0x2800, cccd_handle, 16, {UART(0xFF, 0xF0)}},              /* 4 the ring's commands */
  {0x2803, 0, 19, {0x0C, rx_handle, 0, UART(0x00, 0x02)}},    /* 5 */
  {0, 0, 16, {UART(0x00, 0x02)}},                             /* 6 = rx_handle */
  {0x2803, 0, 19, {0x10, tx_handle, 0, UART(0x00, 0x03)}},    /* 7 */
  {0, 0, 16, {UART(0x00, 0x03)}},                             /* 8 = tx_handle */
  {0x2902, 0, 2, {0, 0}},                                     /* 9 = cccd_handle */
};
enum { last_handle = sizeof attributes / sizeof attributes[0] };

/* An answer with a list of entries of one length: handle, end of the group if there is one, value. */
static void answer_list(const uint8_t *pdu, unsigned type, int has_end, int has_value, const uint8_t *value, int length) {
  uint8_t answer[256] = {pdu[0] + 1};
  int start = has_value ? 2 : 1, count = start, each = 0;
  for (unsigned handle = little16(pdu + 1); handle >= 1 && handle <= last_handle && handle <= little16(pdu + 3); handle++) {
    const struct attribute *attribute = &attributes[handle - 1];
    if (attribute->type != type) continue;
    if (value && (attribute->length != length || memcmp(attribute->value, value, length))) continue;
    int size = 2 + 2 * has_end + has_value * attribute->length;
    if (each && each != size) break;
    each = size;
    uint8_t *entry = answer + count;
    *entry++ = handle;
    *entry++ = 0;
    if (has_end) *entry++ = attribute->end, *entry++ = 0;
    if (has_value) memcpy(entry, attribute->value, attribute->length);
    count += size;
  }
  if (!each) return refuse(pdu, little16(pdu + 1), 0x0A);
  if (has_value) answer[1] = each;
  att(answer, count);
}

static void answer_information(const uint8_t *pdu) {
  uint8_t answer[256] = {0x05};
  int count = 2;
  for (unsigned handle = little16(pdu + 1); handle >= 1 && handle <= last_handle && handle <= little16(pdu + 3); handle++) {
    const struct attribute *attribute = &attributes[handle - 1];
    uint8_t form = attribute->type ? 1 : 2;
    if (answer[1] && answer[1] != form) break;
    answer[1] = form;
    answer[count++] = handle;
    answer[count++] = 0;
    if (form == 1) answer[count++] = attribute->type & 0xFF, answer[count++] = attribute->type >> 8;
    else memcpy(answer + count, attribute->value, 16), count += 16;
  }
  if (!answer[1]) return refuse(pdu, little16(pdu + 1), 0x0A);
  att(answer, count);
}

/* A frame for the ring: the raw stream is started and stopped, all else is refused. */
static void on_frame(const uint8_t *frame) {
  if (frame[0] == 0xA1 && frame[1] == 4) {
    started_count += !rings[current].is_started;
    rings[current].is_started = 1;
  } else if (frame[0] == 0xA1) {
    if (!is_stopped) stop_time = now(), stop_cpu = measured_cpu();
    is_stopped = 1;
  } else {
    uint8_t answer[3 + frame_length] = {0x1B, tx_handle, 0, frame[0] | 0x80, 0xEE};
    answer[2 + frame_length] = checksum(answer + 3);
    att(answer, sizeof answer);
  }
}

static void on_att(const uint8_t *pdu, int count) {
  uint8_t answer[32] = {pdu[0] + 1};
  unsigned handle = count >= 3 ? little16(pdu + 1) : 0;
  switch (pdu[0]) {
    case 0x02: return att((uint8_t[]){0x03, 247, 0}, 3);
    case 0x04: return answer_information(pdu);
    case 0x06: return answer_list(pdu, little16(pdu + 5), 1, 0, pdu + 7, count - 7);
    case 0x08: return answer_list(pdu, count == 7 ? little16(pdu + 5) : 1, 0, 1, NULL, 0);
    case 0x10: return answer_list(pdu, little16(pdu + 5), 1, 1, NULL, 0);
    case 0x0A:
      if (handle < 1 || handle > last_handle) return refuse(pdu, handle, 0x01);
      memcpy(answer + 1, attributes[handle - 1].value, attributes[handle - 1].length);
      return att(answer, 1 + attributes[handle - 1].length);
    case 0x12:
      att(answer, 1);
      /* fall through */
    case 0x52:
      if (handle == rx_handle && count == 3 + frame_length) on_frame(pdu + 3);
      return;
    default:
      if (pdu[0] < 0x40 && !(pdu[0] & 1)) refuse(pdu, handle, 0x06);
  }
}

static void on_data(const uint8_t *packet, size_t length) {
  current = (int)(little16(packet + 1) & 0x0FFF) - link_handle;
  if (current < 0 || current >= ring_count) fail("a packet for no link");
  free_buffers(link_handle + current, 1);
  if (length > 9 && little16(packet + 7) == attribute_channel) on_att(packet + 9, length - 9);
}

/* Waits for `milliseconds` and handles what the client sends. A ring that is looked for advertises each time. */
static void serve(int milliseconds) {
  if (is_scanning) advertise();
  receive(milliseconds);
}

/* Waits until all rings are started. Those that are send accelerations each second, as a client gives up a ring that sends
 * nothing: the others may take longer on a busy machine. */
static void wait_for_rings(int *status, int *has_ended) {
  double due = now() + 1;
  while (started_count < ring_count && !is_gone && !*has_ended) {
    serve(is_scanning ? 20 : 500);
    if (now() > due) {
      uint8_t packet[notification_length];
      for (int ring = 0; ring < ring_count; ring++)
        if (rings[ring].is_started) {
          write_frame(packet, link_handle + ring, acceleration, 0);
          put(packet, sizeof packet);
        }
      due = now() + 1;
    }
    *has_ended = waitpid(measured, status, WNOHANG) == measured;
  }
}

/* --- the stream ------------------------------------------------------------------------------------------------- */

static void flood(long count) {
  enum { chunk = 64 };
  static uint8_t packets[chunk * notification_length];
  for (long sent = 0; sent < count && !is_gone;) {
    /* The kernel takes one packet a write. */
    long part = is_kernel ? 1 : count - sent < chunk ? count - sent : chunk;
    for (long i = 0; i < part; i++) write_notification(packets + i * notification_length, sent + i);
    put(packets, part * notification_length);
    sent += part;
  }
}

static int compare(const void *left, const void *right) {
  double a = *(const double *)left, b = *(const double *)right;
  return (a > b) - (a < b);
}

static void sleep_until(double time) {
  struct timespec until = {time, (time - (long)time) * 1e9};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR) {}
}

/* Sends notifications, each when it is due, or, with a rate of 0, at once, and answers the client meanwhile. Waits for the
 * line of each, if lines are read. Returns the delays, in order of size. */
static double *pace(double rate, long count, int is_read) {
  double *delays = is_read ? calloc(count, sizeof *delays) : NULL;
  double due = now(), cpu = 0;
  long first = count / 4;
  for (long number = 0; number < count && !is_gone; number++) {
    if (rate > 0) sleep_until(due += 1 / rate);
    receive(0);
    if (number == first) cpu = measured_cpu();
    uint8_t packet[notification_length];
    write_notification(packet, number);
    double sent = now();
    put(packet, sizeof packet);
    if (!is_read) continue;
    char text[4096];
    ssize_t got;
    do got = read(lines, text, sizeof text);
    while (got > 0 && text[got - 1] != '\n');
    delays[number] = now() - sent;
    if (got <= 0) break;
  }
  if (rate > 0) sleep_until(due + 1 / rate);
  slope = (measured_cpu() - cpu) / (count - first);
  if (is_read) qsort(delays, count, sizeof *delays, compare);
  return delays;
}

/* Nothing that a client does wrong keeps this waiting: a line that does not come, for example. */
static void give_up(int number) {
  (void)number;
  errno = ETIMEDOUT;
  fail("the client has not ended within five minutes");
}

int main(int argc, char **argv) {
  if (argc > 2 && !strcmp(argv[1], "--rings")) {
    ring_count = atoi(argv[2]);
    argv += 2;
    argc -= 2;
  }
  if (argc < 5 || ring_count < 1 || ring_count > (int)(sizeof rings / sizeof *rings)) {
    fprintf(stderr, "usage: controller [--rings N] PATH|up|down flood|RATE[,unread] COUNT CLIENT...\n");
    return 64;
  }
  signal(SIGPIPE, SIG_IGN);
  signal(SIGALRM, give_up);
  alarm(300);
  const char *place = argv[1];
  int floods = !strcmp(argv[2], "flood"), is_read = !floods && !strchr(argv[2], ',');
  long count = atol(argv[3]);
  int ends[2] = {-1, -1};
  if (is_read && pipe2(ends, O_CLOEXEC)) fail("pipe");
  lines = ends[0];
  start_program(place, argv + 4, ends[1]);
  if (is_read) close(ends[1]);
  int status = 0, has_ended = 0;
  wait_for_rings(&status, &has_ended);
  double begin = now(), cpu = measured_cpu();
  double *delays = NULL;
  if (floods) flood(count); else delays = pace(atof(argv[2]), count, is_read);
  while (!is_stopped && !is_gone && !has_ended) serve(100);
  int is_complete = is_stopped;
  for (double limit = now() + 10; !has_ended && now() < limit;) {
    if (is_gone) usleep(1000); else serve(10);
    has_ended = waitpid(measured, &status, WNOHANG) == measured;
  }
  close(stream);
  if (!has_ended) {
    kill(measured, SIGKILL);
    waitpid(measured, &status, 0);
  }
  if (!is_kernel) unlink(place);
  if (!is_complete || status != 0) {
    fprintf(stderr, "controller: the client has failed, %s\n", is_complete ? "at its end" : "within the stream");
    return 1;
  }
  printf("{\"seconds\":%.6f,\"cpu\":%.9f", stop_time - begin, stop_cpu - cpu);
  if (!floods) printf(",\"slope\":%.9f", slope);
  if (delays)
    printf(
      ",\"p50\":%.9f,\"p99\":%.9f,\"p99.9\":%.9f", delays[count / 2], delays[count * 99 / 100],
      delays[count * 999 / 1000]);
  printf("}\n");
  return 0;
}
