#include "CCompression.h"

#include <dlfcn.h>

int halo_archive_load(struct halo_archive *functions) {
  void *library = dlopen("libarchive.so.13", RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) return -1;
#define HALO_ARCHIVE_FIND(result, name, parameters) \
  functions->name = (result(*) parameters)dlsym(library, "archive_" #name); \
  if (functions->name == NULL) return -2;
  HALO_ARCHIVE_FUNCTIONS(HALO_ARCHIVE_FIND)
#undef HALO_ARCHIVE_FIND
  return 0;
}

int halo_uncompress(unsigned char *destination, size_t *length, const unsigned char *source, size_t count) {
  void *library = dlopen("libz.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) return -1;
  int (*uncompress)(unsigned char *, unsigned long *, const unsigned char *, unsigned long) =
    (int (*)(unsigned char *, unsigned long *, const unsigned char *, unsigned long))dlsym(library, "uncompress");
  if (uncompress == NULL) return -1;
  unsigned long room = *length;
  if (uncompress(destination, &room, source, count) != 0) return -2;
  *length = room;
  return 0;
}
