#ifdef __linux__
#define _GNU_SOURCE
#include "CHaloLinux.h"

#include <sys/socket.h>

int halo_accept(int listener) { return accept4(listener, 0, 0, SOCK_CLOEXEC | SOCK_NONBLOCK); }

int halo_peer(int socket, uid_t *user) {
  struct ucred peer;
  socklen_t length = sizeof peer;
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) return -1;
  *user = peer.uid;
  return 0;
}
#endif
