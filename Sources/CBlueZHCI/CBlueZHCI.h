// The kernel's Bluetooth socket ABI as libbluetooth-dev states it, and as plain functions what Swift can't import of it.
#pragma once

#include <bluetooth/bluetooth.h>
#include <bluetooth/hci.h>
#include <bluetooth/hci_lib.h>
#include <bluetooth/l2cap.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sock_diag.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <termios.h>
#include <unistd.h>

#include "AdapterHelper.h"

// The numbers that the kernel's headers only have as macros with a cast or a type in them.
static const unsigned long halo_hci_device_up = HCIDEVUP;
static const unsigned long halo_hci_device_down = HCIDEVDOWN;
static const unsigned long halo_hci_device_list = HCIGETDEVLIST;
static const unsigned long halo_hci_device_info = HCIGETDEVINFO;
static const unsigned long halo_hci_connection_list = HCIGETCONNLIST;
static const unsigned long halo_hci_connection_info = HCIGETCONNINFO;

// What the kernel says of a packet besides its bytes.
struct halo_received {
  // When it came, in nanoseconds of CLOCK_REALTIME; zero if nobody noted it.
  int64_t wall_nanoseconds;
  // How many packets the socket has lost since it was opened, as its buffer was full; only if has_drops.
  uint32_t drops;
  bool has_drops;
};

// Reads one packet and what belongs to it. The CMSG_ macros, with which ancillary data is walked, do not exist in
// Swift. The control buffer stands on the stack: nothing is allocated.
static inline ssize_t halo_receive(int socket, void *buffer, size_t length, struct halo_received *about) {
  union {
    char bytes[128];
    struct cmsghdr alignment;
  } control;
  struct iovec vector = {.iov_base = buffer, .iov_len = length};
  struct msghdr message = {
      .msg_iov = &vector, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
  memset(about, 0, sizeof *about);
  ssize_t count = recvmsg(socket, &message, MSG_DONTWAIT);
  if (count < 0) return count;
  for (struct cmsghdr *item = CMSG_FIRSTHDR(&message); item; item = CMSG_NXTHDR(&message, item)) {
    size_t size = item->cmsg_len - CMSG_LEN(0);
    if (item->cmsg_level == SOL_SOCKET && item->cmsg_type == SO_TIMESTAMPNS && size >= sizeof(struct timespec)) {
      struct timespec time;
      memcpy(&time, CMSG_DATA(item), sizeof time);
      about->wall_nanoseconds = (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
    } else if (item->cmsg_level == SOL_HCI && item->cmsg_type == HCI_CMSG_TSTAMP && size >= sizeof(struct timeval)) {
      struct timeval time;
      memcpy(&time, CMSG_DATA(item), sizeof time);
      about->wall_nanoseconds = ((int64_t)time.tv_sec * 1000000 + time.tv_usec) * 1000;
    } else if (item->cmsg_level == SOL_SOCKET && item->cmsg_type == SO_RXQ_OVFL && size >= sizeof about->drops) {
      memcpy(&about->drops, CMSG_DATA(item), sizeof about->drops);
      about->has_drops = true;
    }
  }
  return count;
}
