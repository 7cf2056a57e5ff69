/* A controller with centrals behind it, in H4 framing: the other side of each server that is measured.
 *
 *     central PATH MODE COUNT CENTRALS SERVER...
 *
 *     central PATH notify COUNT CENTRALS SERVER...   COUNT notifications to each central, as fast as buffers are free
 *     central PATH paced  COUNT CENTRALS SERVER...   the same, with one buffer: the next one when the last has been read
 *     central PATH read   COUNT CENTRALS SERVER...   COUNT reads of each central, the next one when the last is answered
 *
 * PATH is that of a Unix socket. SERVER is given PATH, CENTRALS and how many notifications to send: it sets up the
 * controller, advertises a heart rate (180D with 2A37: read, notify), and when all centrals have subscribed, sends the
 * notifications to each and ends. Prints one JSON object: CPU time of all threads of the server and the time from the
 * first notification or read to the last, and how many there were.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { first_handle = 0x0040, attribute_channel = 4, most_centrals = 16, buffers = 16, mtu = 247 };
enum step { away, exchanging, searching, reading, subscribing, subscribed };

static pid_t server;
static int stream, is_gone;
static int is_paced, is_reading;
static long wanted;
static int central_count, connected_count, subscribed_count;
static struct { enum step step; unsigned value; long done; } centrals[most_centrals];
static long done_count;
static double begin_time, begin_cpu, end_time, end_cpu;

static unsigned little16(const uint8_t *p) { return p[0] | (unsigned)p[1] << 8; }

static _Noreturn void fail(const char *what) {
  fprintf(stderr, "central: %s: %s\n", what, strerror(errno));
  if (server > 0) kill(server, SIGKILL);
  exit(1);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec + time.tv_nsec / 1e9;
}

/* CPU seconds of all threads of the server; a process's own sum is rounded to ticks on some kernels. */
static double server_cpu(void) {
  char path[320];
  double seconds = 0;
  snprintf(path, sizeof path, "/proc/%d/task", server);
  DIR *tasks = opendir(path);
  for (struct dirent *task; tasks && (task = readdir(tasks));) {
    snprintf(path, sizeof path, "/proc/%d/task/%s/schedstat", server, task->d_name);
    FILE *file = task->d_name[0] == '.' ? NULL : fopen(path, "r");
    unsigned long long nanoseconds;
    if (file && fscanf(file, "%llu", &nanoseconds) == 1) seconds += nanoseconds / 1e9;
    if (file) fclose(file);
  }
  if (tasks) closedir(tasks);
  return seconds;
}

/* --- packets ---------------------------------------------------------------------------------------------------- */

static void put(const void *bytes, size_t count) {
  for (const char *rest = bytes; count > 0 && !is_gone;) {
    ssize_t sent = write(stream, rest, count);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) is_gone = 1;
    if (sent < 0) return;
    rest += sent;
    count -= sent;
  }
}

static void event(uint8_t code, const void *parameters, uint8_t count) {
  uint8_t packet[258] = {4, code, count};
  memcpy(packet + 3, parameters, count);
  put(packet, 3 + count);
}

static void complete(unsigned opcode, const void *values, uint8_t count) {
  uint8_t parameters[255] = {1, opcode, opcode >> 8, 0};
  memcpy(parameters + 4, values, count);
  event(0x0E, parameters, 4 + count);
}

static void accept_command(unsigned opcode) { event(0x0F, (uint8_t[]){0, 1, opcode, opcode >> 8}, 4); }

static void att(int central, const void *pdu, uint8_t count) {
  unsigned handle = first_handle + central;
  uint8_t packet[64] = {2, handle & 0xFF, 0x20 | handle >> 8, count + 4, 0, count, 0, attribute_channel};
  memcpy(packet + 9, pdu, count);
  put(packet, 9 + count);
}

/* --- the controller --------------------------------------------------------------------------------------------- */

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
  unsigned opcode = little16(command);
  uint8_t values[64] = {0};
  switch (opcode) {
    case 0x1001: /* Read Local Version: 4.2 */
      values[0] = values[3] = 8;
      return complete(opcode, values, 8);
    case 0x1002: /* Read Local Supported Commands: those that any LE controller has */
      memcpy(values, (uint8_t[]){[0] = 0x20, [5] = 0xC0, [14] = 0xA8, [15] = 0x02, [25] = 0xF7, [26] = 0x3F, [27] = 0x2C}, 28);
      return complete(opcode, values, 64);
    case 0x1003: /* Read Local Supported Features: LE, no BR/EDR */
      values[4] = 0x60;
      return complete(opcode, values, 8);
    case 0x1005: return complete(opcode, (uint8_t[]){0xFB, 0, 0, buffers, 0, 0, 0}, 7);
    case 0x1009: return complete(opcode, (uint8_t[]){0x13, 0x71, 0xDA, 0x7D, 0x1A, 0}, 6);
    case 0x2002: return complete(opcode, (uint8_t[]){0xFB, 0, is_paced ? 1 : buffers}, 3);
    case 0x2003: case 0x201C: case 0x2018: return complete(opcode, values, 8);
    case 0x2007: case 0x200F:
      values[0] = 8;
      return complete(opcode, values, 1);
    case 0x202F: return complete(opcode, (uint8_t[]){0xFB, 0, 0x48, 8, 0xFB, 0, 0x48, 8}, 8);
    case 0x2023: return complete(opcode, (uint8_t[]){0xFB, 0, 0x48, 8}, 4);
    case 0x200A: /* Set Advertising Enable */
      complete(opcode, values, 0);
      if (command[3]) connect_next();
      return;
    case 0x2016: /* Read Remote Features */
      accept_command(opcode);
      return event(0x3E, (uint8_t[12]){4, 0, command[3], command[4]}, 12);
    case 0x0406:
      accept_command(opcode);
      return event(0x05, (uint8_t[]){0, command[3], command[4], 0x16}, 4);
    case 0x2013: case 0x2022: case 0x2032: return accept_command(opcode);
    default: return complete(opcode, values, 0);
  }
}

/* --- the centrals ----------------------------------------------------------------------------------------------- */

static void begin(void) {
  if (begin_time > 0) return;
  begin_time = now();
  begin_cpu = server_cpu();
}

static void count_one(int central) {
  centrals[central].done++;
  if (++done_count < wanted * central_count) return;
  end_time = now();
  end_cpu = server_cpu();
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

/* Waits for what the server sends, and handles it. */
static void serve(int milliseconds) {
  static uint8_t input[1 << 16];
  static size_t have;
  struct pollfd wait = {.fd = stream, .events = POLLIN};
  if (poll(&wait, 1, milliseconds) <= 0) return;
  ssize_t count = read(stream, input + have, sizeof input - have);
  if (count <= 0) is_gone = 1;
  if (count <= 0) return;
  have += count;
  size_t start = 0;
  uint8_t sent[most_centrals] = {0};
  for (size_t length; have - start >= 4; start += length) {
    const uint8_t *packet = input + start;
    size_t left = have - start;
    if (packet[0] == 1) length = 4u + packet[3];
    else if (packet[0] == 2) length = left >= 5 ? 5 + little16(packet + 3) : 5;
    else fail("a packet of unknown type");
    if (left < length) break;
    if (packet[0] == 1) {
      on_command(packet + 1);
      continue;
    }
    int central = (int)(little16(packet + 1) & 0x0FFF) - first_handle;
    if (central < 0 || central >= connected_count) fail("a packet for no link");
    sent[central]++;
    if (length > 9 && little16(packet + 7) == attribute_channel) on_att(central, packet + 9, length - 9);
  }
  memmove(input, input + start, have - start);
  have -= start;
  for (int central = 0; central < connected_count; central++) {
    unsigned handle = first_handle + central;
    if (sent[central]) event(0x13, (uint8_t[]){1, handle & 0xFF, handle >> 8, sent[central], 0}, 5);
  }
}

static void start_server(char **command) {
  server = fork();
  if (server != 0) return;
  execvp(command[0], command);
  perror(command[0]);
  _exit(127);
}

int main(int argc, char **argv) {
  if (argc < 6) {
    fprintf(stderr, "usage: central PATH notify|paced|read COUNT CENTRALS SERVER...\n");
    return 64;
  }
  signal(SIGPIPE, SIG_IGN);
  is_paced = !strcmp(argv[2], "paced");
  is_reading = !strcmp(argv[2], "read");
  wanted = atol(argv[3]);
  central_count = atoi(argv[4]);
  if (wanted < 1 || central_count < 1 || central_count > most_centrals) fail("how many");
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  snprintf(address.sun_path, sizeof address.sun_path, "%s", argv[1]);
  unlink(argv[1]);
  int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 1)) fail(argv[1]);
  start_server(argv + 5);
  struct pollfd wait = {.fd = listener, .events = POLLIN};
  if (poll(&wait, 1, 60000) <= 0) fail("no server");
  stream = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
  int status = 0, has_ended = 0;
  for (double limit = now() + 300; !has_ended && now() < limit;) {
    if (is_gone) usleep(1000); else serve(10);
    has_ended = waitpid(server, &status, WNOHANG) == server;
  }
  unlink(argv[1]);
  if (!has_ended) fail("the server does not end");
  if (end_time == 0 || status != 0) {
    fprintf(stderr, "central: the server has failed after %ld of %ld, status %d\n", done_count, wanted * central_count, status);
    return 1;
  }
  printf("{\"seconds\":%.6f,\"cpu\":%.9f,\"count\":%ld}\n", end_time - begin_time, end_cpu - begin_cpu, done_count);
  return 0;
}
