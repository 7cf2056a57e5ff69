#ifdef __linux__
#include "CHaloLinux.h"

// The options of microhttpd.h.
enum { CONNECTION_MEMORY_LIMIT = 1, CONNECTION_LIMIT = 2, CONNECTION_TIMEOUT = 3, NOTIFY_COMPLETED = 4, END = 0 };

void *halo_http_start(void *start, unsigned flags, void *answer, void *completed, void *argument, unsigned connections,
                      unsigned seconds, size_t memory) {
  void *(*daemon)(unsigned, uint16_t, void *, void *, void *, void *, ...) =
      (void *(*)(unsigned, uint16_t, void *, void *, void *, void *, ...))start;
  return daemon(flags, 0, (void *)0, (void *)0, answer, argument, CONNECTION_LIMIT, connections, CONNECTION_TIMEOUT, seconds,
                CONNECTION_MEMORY_LIMIT, memory, NOTIFY_COMPLETED, completed, (void *)0, END);
}
#endif
