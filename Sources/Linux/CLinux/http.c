#ifdef __linux__
#include "CHaloLinux.h"

// The options and questions of microhttpd.h.
enum {
  END = 0,
  CONNECTION_MEMORY_LIMIT = 1,
  CONNECTION_LIMIT = 2,
  CONNECTION_TIMEOUT = 3,
  NOTIFY_COMPLETED = 4,
  NOTIFY_CONNECTION = 27,
  CONNECTION_FD = 6,
};

void *halo_http_start(void *start, unsigned flags, void *answer, void *completed, void *connected, void *argument,
                      unsigned connections, unsigned seconds, size_t memory) {
  void *(*daemon)(unsigned, uint16_t, void *, void *, void *, void *, ...) =
      (void *(*)(unsigned, uint16_t, void *, void *, void *, void *, ...))start;
  return daemon(flags, 0, (void *)0, (void *)0, answer, argument, CONNECTION_LIMIT, connections, CONNECTION_TIMEOUT, seconds,
                CONNECTION_MEMORY_LIMIT, memory, NOTIFY_COMPLETED, completed, (void *)0, NOTIFY_CONNECTION, connected, argument,
                END);
}

int halo_http_descriptor(void *get_info, void *connection) {
  const int *(*info)(void *, int, ...) = (const int *(*)(void *, int, ...))get_info;
  const int *descriptor = info(connection, CONNECTION_FD);
  return descriptor ? *descriptor : -1;
}
#endif
