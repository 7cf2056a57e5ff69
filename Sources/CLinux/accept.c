#define _GNU_SOURCE
#include "CLinux.h"

#include <sys/socket.h>

int halo_accept(int listener) { return accept4(listener, 0, 0, SOCK_CLOEXEC | SOCK_NONBLOCK); }
