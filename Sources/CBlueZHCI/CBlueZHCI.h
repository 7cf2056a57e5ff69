// What Swift cannot import by itself: Linux' event descriptors as plain functions, and the kernel's
// Bluetooth socket ABI as libbluetooth-dev states it.
#pragma once

#include <bluetooth/bluetooth.h>
#include <bluetooth/hci.h>
#include <bluetooth/hci_lib.h>
#include <bluetooth/l2cap.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <termios.h>
#include <unistd.h>

// accept4 is a GNU extension that Swift's Glibc module leaves out.
int accept4(int, struct sockaddr *restrict, socklen_t *restrict, int);

static inline int halo_accept(int listener) {
  return accept4(listener, 0, 0, SOCK_CLOEXEC | SOCK_NONBLOCK);
}
