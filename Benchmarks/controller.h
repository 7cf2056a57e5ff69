/* A controller in H4 framing, for the program that is measured: it starts the program, counts its CPU time, and gives the
 * answers that set up a host. The program finds it at PLACE:
 *
 *     a path         a Unix socket
 *     up, down       an adapter that the kernel makes of the controller (/dev/vhci), and that is up or down when the program
 *                    starts. The program runs in the control group /sys/fs/cgroup/measured, which is there already
 *
 * The file that includes it is one of a benchmark, and handles what remains:
 *
 *     on_command     a command that is not one of these; its first byte is the opcode's
 *     on_data        an ACL packet, from its type byte on
 */
#ifndef CONTROLLER_H
#define CONTROLLER_H
#ifndef _GNU_SOURCE
#error "define _GNU_SOURCE before the first header"
#endif
#include <bluetooth/bluetooth.h>
#include <bluetooth/hci.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "packets.h"

#define GROUP "/sys/fs/cgroup/measured/"

static pid_t measured;
static int is_kernel;
/* It is gone when the other side takes nothing more. */
static int stream, is_gone;
/* For packets that the host sends. */
static uint8_t buffers = 16;

static void on_command(const uint8_t *command);
static void on_data(const uint8_t *packet, size_t length);

static _Noreturn void fail(const char *what) {
  fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what, strerror(errno));
  if (measured > 0) kill(measured, SIGKILL);
  exit(1);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec + time.tv_nsec / 1e9;
}

/* CPU seconds of all processes that were in the control group, those that have ended included. */
static double group_cpu(void) {
  unsigned long long microseconds;
  FILE *file = fopen(GROUP "cpu.stat", "r");
  if (!file || fscanf(file, "usage_usec %llu", &microseconds) != 1) fail(GROUP "cpu.stat");
  fclose(file);
  return microseconds / 1e6;
}

/* CPU seconds of the program: on an adapter of the kernel, those of its control group; otherwise those of all its threads,
 * as a process's own sum is rounded to ticks on some kernels. */
static double measured_cpu(void) {
  char path[320];
  double seconds = 0;
  if (is_kernel) return group_cpu();
  snprintf(path, sizeof path, "/proc/%d/task", measured);
  DIR *tasks = opendir(path);
  for (struct dirent *task; tasks && (task = readdir(tasks));) {
    snprintf(path, sizeof path, "/proc/%d/task/%s/schedstat", measured, task->d_name);
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
    /* An adapter of the kernel that is down takes nothing. */
    if (sent < 0 && (errno == ENXIO || errno == ENETDOWN)) return;
    if (sent < 0) {
      is_gone = 1;
      return;
    }
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

static void send_att(unsigned handle, const void *pdu, uint8_t count) {
  uint8_t packet[300] = {2, handle & 0xFF, 0x20 | handle >> 8, count + 4, 0, count, 0, attribute_channel};
  memcpy(packet + 9, pdu, count);
  put(packet, 9 + count);
}

/* Number Of Completed Packets of a link. */
static void free_buffers(unsigned handle, uint8_t count) {
  event(0x13, (uint8_t[]){1, handle & 0xFF, handle >> 8, count, 0}, 5);
}

/* --- commands --------------------------------------------------------------------------------------------------- */

/* Answers a command that sets up a host, or that any link needs, and others with success. */
static void answer_command(const uint8_t *command) {
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
    case 0x2002: return complete(opcode, (uint8_t[]){0xFB, 0, buffers}, 3);
    case 0x2003: case 0x201C: case 0x2018: return complete(opcode, values, 8);
    case 0x2007: case 0x200F:
      values[0] = 8;
      return complete(opcode, values, 1);
    case 0x202F: return complete(opcode, (uint8_t[]){0xFB, 0, 0x48, 8, 0xFB, 0, 0x48, 8}, 8);
    case 0x2023: return complete(opcode, (uint8_t[]){0xFB, 0, 0x48, 8}, 4);
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

/* Waits for what the host sends, and handles it. */
static void receive(int milliseconds) {
  static uint8_t input[1 << 16];
  static size_t have;
  struct pollfd wait = {.fd = stream, .events = POLLIN};
  if (poll(&wait, 1, milliseconds) <= 0) return;
  ssize_t count = read(stream, input + have, sizeof input - have);
  if (count <= 0) {
    is_gone = 1;
    return;
  }
  have += count;
  size_t start = 0;
  for (size_t length; have - start >= 4; start += length) {
    const uint8_t *packet = input + start;
    size_t left = have - start;
    if (packet[0] == 1) length = 4u + packet[3];
    else if (packet[0] == 2) length = left >= 5 ? 5 + little16(packet + 3) : 5;
    else fail("a packet of unknown type");
    if (left < length) break;
    if (packet[0] == 1) on_command(packet + 1);
    else on_data(packet, length);
  }
  memmove(input, input + start, have - start);
  have -= start;
}

/* --- the program ------------------------------------------------------------------------------------------------ */

static int listen_at(const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
  unlink(path);
  int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 1)) fail(path);
  return listener;
}

static void accept_program(int listener) {
  struct pollfd wait = {.fd = listener, .events = POLLIN};
  if (poll(&wait, 1, 60000) <= 0) fail("the program does not connect");
  stream = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
}

/* Has the kernel make an adapter; its number. */
static int make_adapter(void) {
  stream = open("/dev/vhci", O_RDWR | O_CLOEXEC);
  uint8_t packet[4] = {0xFF, 0};
  if (stream < 0 || write(stream, packet, 2) != 2 || read(stream, packet, 4) != 4) fail("/dev/vhci");
  return little16(packet + 2);
}

/* Switches an adapter; the controller must be served in the time. */
static void switch_adapter(int adapter, int is_up) {
  int hci = socket(AF_BLUETOOTH, SOCK_RAW | SOCK_CLOEXEC, BTPROTO_HCI);
  /* Up also before down: a new adapter is up for its first two seconds. */
  if (hci < 0 || (ioctl(hci, HCIDEVUP, adapter) && errno != EALREADY) || (!is_up && ioctl(hci, HCIDEVDOWN, adapter))) {
    perror("cannot switch the adapter");
    _exit(126);
  }
}

static void enter_group(void) {
  int file = open(GROUP "cgroup.procs", O_WRONLY | O_CLOEXEC);
  if (file >= 0 && write(file, "0", 1) == 1) return;
  perror(GROUP "cgroup.procs");
  _exit(126);
}

/* Starts the program, whose standard output is `output`, or /dev/null if that is -1. */
static void start_program(const char *place, char **command, int output) {
  int is_up = !strcmp(place, "up");
  is_kernel = is_up || !strcmp(place, "down");
  int from = is_kernel ? make_adapter() : listen_at(place);
  measured = fork();
  if (measured == 0) {
    signal(SIGPIPE, SIG_DFL);
    if (is_kernel) {
      switch_adapter(from, is_up);
      enter_group();
    }
    dup2(output >= 0 ? output : open("/dev/null", O_WRONLY), STDOUT_FILENO);
    execvp(command[0], command);
    perror(command[0]);
    _exit(127);
  }
  if (!is_kernel) accept_program(from);
}
#endif
