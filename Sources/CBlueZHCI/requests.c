#ifdef __linux__
#include "CBlueZHCI.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

int halo_hci_up(int socket, uint16_t index) {
  for (int tries = 3;; tries--) {
    int result = ioctl(socket, HCIDEVUP, (int)index);
    if (result == 0 || errno != ETIMEDOUT || tries == 1) return result;
  }
}

int halo_hci_down(int socket, uint16_t index) { return ioctl(socket, HCIDEVDOWN, (int)index); }

int halo_hci_devices(int socket, void *list) { return ioctl(socket, HCIGETDEVLIST, list); }

int halo_hci_device(int socket, void *device) { return ioctl(socket, HCIGETDEVINFO, device); }

int halo_hci_links(int socket, void *list) { return ioctl(socket, HCIGETCONNLIST, list); }

int halo_hci_link(int socket, void *link) { return ioctl(socket, HCIGETCONNINFO, link); }

int halo_l2cap_handle(int socket, uint16_t *handle) {
  struct l2cap_conninfo information;
  socklen_t length = sizeof information;
  if (getsockopt(socket, SOL_L2CAP, L2CAP_CONNINFO, &information, &length) != 0) return -1;
  *handle = information.hci_handle;
  return 0;
}
#endif
