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
  size_t length;
  // When it came, in nanoseconds of CLOCK_REALTIME; zero if nobody noted it.
  int64_t wall_nanoseconds;
  // How many packets the socket has lost since it was opened, as its buffer was full; only if has_drops.
  uint32_t drops;
  bool has_drops;
};

// A packet's ancillary data. The CMSG_ macros, with which it is walked, do not exist in Swift.
static inline void halo_read_control(struct msghdr *message, struct halo_received *about) {
  for (struct cmsghdr *item = CMSG_FIRSTHDR(message); item; item = CMSG_NXTHDR(message, item)) {
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
}

enum { HALO_RECEIVE_MOST = 16 };

// The kernel's struct mmsghdr, which glibc's headers only have with _GNU_SOURCE; Swift imports them without.
struct halo_message {
  struct msghdr msg_hdr;
  unsigned msg_len;
};

// Reads up to `most` packets, at most HALO_RECEIVE_MOST, with one call: at most `length` bytes of each, `stride` bytes
// apart in the buffer. Headers and control buffers stand on the stack: nothing is allocated.
//
// Returns the number of packets, or -1 with errno. The end of a stream is a packet of no bytes.
static inline int halo_receive(
    int socket, void *buffer, size_t length, size_t stride, int most, struct halo_received *about) {
  union {
    char bytes[128];
    struct cmsghdr alignment;
  } controls[HALO_RECEIVE_MOST];
  struct iovec vectors[HALO_RECEIVE_MOST];
  struct halo_message messages[HALO_RECEIVE_MOST];
  for (int i = 0; i < most; i++) {
    vectors[i] = (struct iovec){.iov_base = (char *)buffer + i * stride, .iov_len = length};
    messages[i] = (struct halo_message){.msg_hdr = {.msg_iov = &vectors[i], .msg_iovlen = 1, .msg_control = &controls[i],
                                               .msg_controllen = sizeof controls[i]}};
  }
  int count = 1;
  if (most == 1) {
    ssize_t received = recvmsg(socket, &messages[0].msg_hdr, MSG_DONTWAIT);
    if (received < 0) return -1;
    messages[0].msg_len = (unsigned)received;
  } else {
    count = (int)syscall(SYS_recvmmsg, socket, messages, (unsigned)most, MSG_DONTWAIT, 0);
  }
  for (int i = 0; i < count; i++) {
    about[i] = (struct halo_received){.length = messages[i].msg_len};
    halo_read_control(&messages[i].msg_hdr, &about[i]);
  }
  return count;
}
