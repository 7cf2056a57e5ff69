#ifdef __linux__
#define _GNU_SOURCE
#include "CBlueZHCI.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

// From here to halo_last_command_serve: the helpers themselves. They are forked from a process with threads, so there are
// only system calls in them.

// The adapter under a number: the one with the address that the helper was made for, and no other.
static int halo_adapter_check(int socket, uint16_t index, const uint8_t *address) {
  struct hci_dev_info information;
  memset(&information, 0, sizeof information);
  information.dev_id = index;
  if (ioctl(socket, HCIGETDEVINFO, &information) != 0) return errno;
  return memcmp(&information.bdaddr, address, sizeof information.bdaddr) == 0 ? 0 : ENODEV;
}

// Binds a new socket to the user channel.
static int halo_adapter_take(int socket, uint16_t index, int receive_buffer) {
  struct sockaddr_hci address;
  memset(&address, 0, sizeof address);
  address.hci_family = AF_BLUETOOTH;
  address.hci_dev = index;
  address.hci_channel = HCI_CHANNEL_USER;
  // More than who uses the socket may ask for.
  setsockopt(socket, SOL_SOCKET, SO_RCVBUFFORCE, &receive_buffer, sizeof receive_buffer);
  return bind(socket, (struct sockaddr *)&address, sizeof address) == 0 ? 0 : errno;
}

static int halo_adapter_switch(int socket, uint16_t index, bool is_up) {
  if ((is_up ? halo_hci_up : halo_hci_down)(socket, index) == 0) return 0;
  return errno == EALREADY ? 0 : errno;
}

// Sends a reply, with a descriptor if there is one.
static void halo_adapter_answer(int channel, struct halo_adapter_reply reply, int descriptor) {
  union {
    char bytes[CMSG_SPACE(sizeof(int))];
    struct cmsghdr alignment;
  } control;
  memset(&control, 0, sizeof control);
  struct iovec vector = {.iov_base = &reply, .iov_len = sizeof reply};
  struct msghdr message = {.msg_iov = &vector, .msg_iovlen = 1};
  if (descriptor >= 0) {
    message.msg_control = &control;
    message.msg_controllen = sizeof control;
    struct cmsghdr *item = CMSG_FIRSTHDR(&message);
    item->cmsg_level = SOL_SOCKET;
    item->cmsg_type = SCM_RIGHTS;
    item->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(item), &descriptor, sizeof descriptor);
  }
  sendmsg(channel, &message, MSG_NOSIGNAL);
}

// Makes a descriptor 0, and another one 1, unless that is negative; closes all others.
static bool halo_helper_keep(int first, int second) {
  // Both are above, so that neither is overwritten before it was copied.
  first = fcntl(first, F_DUPFD, 2);
  if (first < 0 || (second >= 0 && (second = fcntl(second, F_DUPFD, 2)) < 0)) return false;
  if (dup2(first, 0) < 0 || (second >= 0 && dup2(second, 1) < 0)) return false;
  unsigned others = second >= 0 ? 2 : 1;
  if (syscall(SYS_close_range, others, ~0u, 0u) != 0) {
    for (int descriptor = (int)others; descriptor < 4096; descriptor++) close(descriptor);
  }
  return true;
}

// Gives up all but some capabilities: root's user, the folder, signals.
static bool halo_helper_confine(const char *name, uint32_t capabilities) {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, 0);
  prctl(PR_SET_NAME, name);
  if (chdir("/") != 0) return false;
  setsid();
  if (geteuid() == 0) {
    gid_t nogroup = 65534;
    uid_t nobody = 65534;
    if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) != 0 || setgroups(0, 0) != 0 || setresgid(nogroup, nogroup, nogroup) != 0
        || setresuid(nobody, nobody, nobody) != 0)
      return false;
  }
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct data[2] = {{0}};
  data[0].permitted = data[0].effective = capabilities;
  return syscall(SYS_capset, &header, data) == 0;
}

// Does what is asked, one request after the other, until the other side has closed the channel.
static void halo_adapter_serve(const uint8_t *address, int receive_buffer) {
  struct halo_adapter_request request;
  while (true) {
    ssize_t count = recv(0, &request, sizeof request, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count != (ssize_t)sizeof request) return;
    if (request.what < HALO_ADAPTER_TAKE || request.what > HALO_ADAPTER_DOWN) {
      halo_adapter_answer(0, (struct halo_adapter_reply){.number = request.number, .error = EINVAL}, -1);
      continue;
    }
    int descriptor = socket(AF_BLUETOOTH, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, BTPROTO_HCI);
    int error = descriptor < 0 ? errno : halo_adapter_check(descriptor, request.index, address);
    bool is_taken = false;
    if (error == 0) {
      switch (request.what) {
        case HALO_ADAPTER_TAKE:
          error = halo_adapter_take(descriptor, request.index, receive_buffer);
          is_taken = error == 0;
          break;
        case HALO_ADAPTER_UP: error = halo_adapter_switch(descriptor, request.index, true); break;
        case HALO_ADAPTER_DOWN: error = halo_adapter_switch(descriptor, request.index, false); break;
      }
    }
    struct halo_adapter_reply reply = {.number = request.number, .error = error};
    // If the other side has gone, what it has asked for before is still done.
    halo_adapter_answer(0, reply, is_taken ? descriptor : -1);
    if (descriptor >= 0) close(descriptor);
  }
}

// Keeps the last packet, until the other side has closed the channel, and writes it then.
static void halo_last_command_serve(void) {
  uint8_t packet[HALO_LAST_COMMAND_MOST], next[HALO_LAST_COMMAND_MOST];
  ssize_t length = 0;
  while (true) {
    ssize_t count = recv(0, next, sizeof next, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    memcpy(packet, next, count);
    length = count;
  }
  if (length > 1) send(1, packet, length, MSG_NOSIGNAL);
}

// Forks a helper. *is_helper says in which process this returns: in the helper with its side of a channel; in the other one
// with that side, which does not block, or with the negative error number.
static int halo_helper_fork(bool *is_helper) {
  *is_helper = false;
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return -errno;
  pid_t child = fork();
  if (child == 0) {
    // Init's child, so that this process has none to wait for.
    pid_t helper = fork();
    if (helper != 0) _exit(helper < 0);
    *is_helper = true;
    return ends[1];
  }
  int error = child < 0 ? errno : 0;
  close(ends[1]);
  if (child > 0) {
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    if (status != 0) error = EAGAIN;
  }
  if (error == 0 && fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0) error = errno;
  if (error == 0) return ends[0];
  close(ends[0]);
  return -error;
}

int halo_adapter_helper(const uint8_t *address, int receive_buffer) {
  uint8_t own_address[6];
  memcpy(own_address, address, sizeof own_address);
  bool is_helper;
  int channel = halo_helper_fork(&is_helper);
  if (!is_helper) return channel;
  if (halo_helper_keep(channel, -1) && halo_helper_confine("halo-adapter", 1u << CAP_NET_ADMIN))
    halo_adapter_serve(own_address, receive_buffer);
  _exit(0);
}

int halo_last_command(int descriptor) {
  bool is_helper;
  int channel = halo_helper_fork(&is_helper);
  if (!is_helper) return channel;
  if (halo_helper_keep(channel, descriptor) && halo_helper_confine("halo-last", 0)) halo_last_command_serve();
  _exit(0);
}

ssize_t halo_adapter_receive(int channel, uint32_t *number, int32_t *error, int *descriptor) {
  union {
    char bytes[CMSG_SPACE(sizeof(int))];
    struct cmsghdr alignment;
  } control;
  struct halo_adapter_reply reply = {0};
  struct iovec vector = {.iov_base = &reply, .iov_len = sizeof reply};
  struct msghdr message = {
      .msg_iov = &vector, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
  *descriptor = -1;
  ssize_t count = recvmsg(channel, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (count < 0) return count;
  *number = reply.number;
  *error = reply.error;
  for (struct cmsghdr *item = CMSG_FIRSTHDR(&message); item; item = CMSG_NXTHDR(&message, item)) {
    if (item->cmsg_level == SOL_SOCKET && item->cmsg_type == SCM_RIGHTS && item->cmsg_len >= CMSG_LEN(sizeof(int)))
      memcpy(descriptor, CMSG_DATA(item), sizeof *descriptor);
  }
  return count;
}
#endif
