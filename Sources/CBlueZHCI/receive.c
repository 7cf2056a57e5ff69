#ifdef __linux__
#include "CBlueZHCI.h"

#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

// A packet's ancillary data.
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

// The kernel's struct mmsghdr, which glibc's headers only have with _GNU_SOURCE.
struct halo_message {
  struct msghdr msg_hdr;
  unsigned msg_len;
};

int halo_receive(int socket, void *buffer, size_t length, size_t stride, int most, void *room) {
  struct halo_received *about = room;
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
#endif
