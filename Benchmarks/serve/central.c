/* A controller with centrals behind it, in H4 framing: the other side of each server that is measured.
 *
 *     central PLACE MODE COUNT CENTRALS SERVER...
 *
 *     central PLACE notify COUNT CENTRALS SERVER...  COUNT notifications to each central, as fast as buffers are free
 *     central PLACE paced  COUNT CENTRALS SERVER...  the same, with one buffer: the next one when the last has been read
 *     central PLACE read   COUNT CENTRALS SERVER...  COUNT reads of each central, the next one when the last is answered
 *
 * PLACE: see controller.h. SERVER is given the place, CENTRALS and how many notifications to send: it sets up the
 * controller, advertises a heart rate (180D with 2A37: read, notify), and when all centrals have subscribed, sends the
 * notifications to each and ends; if it has not ended after a second, the centrals leave. Prints one JSON object: CPU time
 * of the server and the time from the first notification or read to the last, and how many there were. On an adapter of the
 * kernel, which takes hundreds of notifications before the first one leaves, the CPU time is that until the server has ended.
 */
#define _GNU_SOURCE
#include <sys/wait.h>

#include "../controller.h"

enum { first_handle = 0x0040, most_centrals = 16, mtu = 247 };
enum step { away, exchanging, searching, reading, subscribing, subscribed };

static int is_reading;
static long wanted;
static int central_count, connected_count, subscribed_count;
static struct { enum step step; unsigned value; long done; } centrals[most_centrals];
static long done_count;
static double begin_time, begin_cpu, end_time, end_cpu;

static void att(int central, const void *pdu, uint8_t count) { send_att(first_handle + central, pdu, count); }

/* The next central connects, if the server advertises for one. */
static void connect_next(void) {
  if (connected_count == central_count) return;
  int central = connected_count++;
  unsigned handle = first_handle + central;
  uint8_t parameters[19] = {1, 0, handle & 0xFF, handle >> 8, 1, 1, 0xF0 + central, 1, 2, 3, 4, 0xC5, 12, 0, 0, 0, 200};
  event(0x3E, parameters, sizeof parameters);
  centrals[central].step = exchanging;
  att(central, (uint8_t[]){0x02, mtu & 0xFF, mtu >> 8}, 3);
}

static void on_command(const uint8_t *command) {
  answer_command(command);
  /* Set Advertising Enable */
  if (little16(command) == 0x200A && command[3]) connect_next();
}

/* --- the centrals ----------------------------------------------------------------------------------------------- */

static void begin(void) {
  if (begin_time > 0) return;
  begin_time = now();
  begin_cpu = measured_cpu();
}

static void count_one(int central) {
  centrals[central].done++;
  if (++done_count < wanted * central_count) return;
  end_time = now();
  end_cpu = measured_cpu();
}

static void search(int central, unsigned start) {
  centrals[central].step = searching;
  att(central, (uint8_t[]){0x08, start, start >> 8, 0xFF, 0xFF, 0x03, 0x28}, 7);
}

static void read_value(int central) {
  unsigned value = centrals[central].value;
  att(central, (uint8_t[]){0x0A, value, value >> 8}, 3);
}

/* The configuration stands behind the value. */
static void subscribe(int central) {
  unsigned handle = centrals[central].value + 1;
  centrals[central].step = subscribing;
  att(central, (uint8_t[]){0x12, handle, handle >> 8, 1, 0}, 5);
}

/* Looks for the declaration of 2A37. */
static void on_declarations(int central, const uint8_t *pdu, int count) {
  int size = pdu[1];
  unsigned last = 0;
  for (const uint8_t *entry = pdu + 2; entry + size <= pdu + count; entry += size) {
    last = little16(entry);
    if (size != 7 || little16(entry + 5) != 0x2A37) continue;
    centrals[central].value = little16(entry + 3);
    if (!is_reading) return subscribe(central);
    centrals[central].step = reading;
    begin();
    return read_value(central);
  }
  search(central, last + 1);
}

static void on_att(int central, const uint8_t *pdu, int count) {
  switch (pdu[0]) {
    case 0x02: return att(central, (uint8_t[]){0x03, mtu & 0xFF, mtu >> 8}, 3);
    case 0x03: return search(central, 1);
    case 0x01:
      if (centrals[central].step == exchanging) return search(central, 1);
      fail("an error response");
    case 0x09: return on_declarations(central, pdu, count);
    case 0x0B:
      count_one(central);
      return centrals[central].done < wanted ? read_value(central) : subscribe(central);
    case 0x13:
      centrals[central].step = subscribed;
      subscribed_count++;
      return;
    case 0x1B:
      if (is_reading) return;
      begin();
      return count_one(central);
    default:
      /* What a server asks its client for is refused. */
      if (pdu[0] < 0x40 && !(pdu[0] & 1)) att(central, (uint8_t[]){0x01, pdu[0], 0, 0, 0x06}, 5);
  }
}

/* The packets of each link whose buffers are not free yet. */
static uint8_t unfreed[most_centrals];

static void on_data(const uint8_t *packet, size_t length) {
  int central = (int)(little16(packet + 1) & 0x0FFF) - first_handle;
  if (central < 0 || central >= connected_count) fail("a packet for no link");
  unfreed[central]++;
  if (length > 9 && little16(packet + 7) == attribute_channel) on_att(central, packet + 9, length - 9);
}

/* Waits for what the server sends, and frees the buffers of all that has come. */
static void serve(int milliseconds) {
  receive(milliseconds);
  for (int central = 0; central < connected_count; central++) {
    if (unfreed[central]) free_buffers(first_handle + central, unfreed[central]);
    unfreed[central] = 0;
  }
}

static void leave(void) {
  for (int central = 0; central < connected_count; central++) {
    unsigned handle = first_handle + central;
    event(0x05, (uint8_t[]){0, handle & 0xFF, handle >> 8, 0x13}, 4);
  }
}

int main(int argc, char **argv) {
  if (argc < 6) {
    fprintf(stderr, "usage: central PATH|up|down notify|paced|read COUNT CENTRALS SERVER...\n");
    return 64;
  }
  signal(SIGPIPE, SIG_IGN);
  if (!strcmp(argv[2], "paced")) buffers = 1;
  is_reading = !strcmp(argv[2], "read");
  wanted = atol(argv[3]);
  central_count = atoi(argv[4]);
  if (wanted < 1 || central_count < 1 || central_count > most_centrals) fail("how many");
  start_program(argv[1], argv + 5, -1);
  int status = 0, has_ended = 0, have_left = 0;
  for (double limit = now() + 300; !has_ended && now() < limit;) {
    if (is_gone) usleep(1000); else serve(10);
    if (end_time > 0 && !have_left && now() > end_time + 1) {
      have_left = 1;
      leave();
    }
    has_ended = waitpid(measured, &status, WNOHANG) == measured;
  }
  if (!is_kernel) unlink(argv[1]);
  if (!has_ended) fail("the server does not end");
  if (is_kernel) end_cpu = measured_cpu();
  if (end_time == 0 || status != 0) {
    fprintf(stderr, "central: the server has failed after %ld of %ld, status %d\n", done_count, wanted * central_count, status);
    return 1;
  }
  printf("{\"seconds\":%.6f,\"cpu\":%.9f,\"count\":%ld}\n", end_time - begin_time, end_cpu - begin_cpu, done_count);
  return 0;
}
