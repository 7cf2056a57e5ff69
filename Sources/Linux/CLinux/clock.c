#ifdef __linux__
#include "CHaloLinux.h"

#include <sys/timex.h>

int halo_clock_is_synchronized(void) {
  struct timex state = {.modes = 0};
  int result = adjtimex(&state);
  if (result < 0) { return -1; }
  return result != TIME_ERROR && !(state.status & STA_UNSYNC);
}
#endif
