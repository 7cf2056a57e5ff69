#ifdef __linux__
#define _GNU_SOURCE
#include "CHaloLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>

int halo_open_unnamed(const char *folder) {
  int file = open(folder, O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
  // Older kernels and some file systems take the folder for the file.
  if (file < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == ENOENT || errno == EINVAL)) {
    file = memfd_create("halo-raw", MFD_CLOEXEC);
  }
  return file;
}
#endif
