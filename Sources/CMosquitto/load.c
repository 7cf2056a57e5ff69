#include "CMosquitto.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

// OPENSSL_INIT_NO_ATEXIT of openssl/crypto.h. At the end of the process a thread may still wait for a broker: OpenSSL
// must not free what it uses.
static const uint64_t no_atexit = 0x00080000;

int halo_mosquitto_load(struct halo_mosquitto *functions) {
  void *library = dlopen("libmosquitto.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) return -1;
#define HALO_MOSQUITTO_FIND(name) \
  functions->name = (__typeof__(functions->name))dlsym(library, "mosquitto_" #name); \
  if (functions->name == NULL) return -2;
  HALO_MOSQUITTO_FUNCTIONS(HALO_MOSQUITTO_FIND)
#undef HALO_MOSQUITTO_FIND
  // A symbol of a library that libmosquitto depends on, if it was built with TLS.
  int (*prepare)(uint64_t, const void *) = (int (*)(uint64_t, const void *))dlsym(library, "OPENSSL_init_crypto");
  if (prepare != NULL) prepare(no_atexit, NULL);
  functions->lib_init();
  return 0;
}
