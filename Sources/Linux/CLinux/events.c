#ifdef __linux__
#define _GNU_SOURCE
#include "CHaloLinux.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>

// EpollLoop.Readiness has the numbers of poll, which Swift can read.
_Static_assert(
  EPOLLIN == POLLIN && EPOLLOUT == POLLOUT && EPOLLERR == POLLERR && EPOLLHUP == POLLHUP, "epoll has bits of its own");

int halo_epoll(void) { return epoll_create1(EPOLL_CLOEXEC); }

int halo_epoll_add(int epoll, int descriptor, uint32_t events, uint64_t mark) {
  struct epoll_event event = {.events = events, .data.u64 = mark};
  return epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event);
}

int halo_epoll_change(int epoll, int descriptor, uint32_t events, uint64_t mark) {
  struct epoll_event event = {.events = events, .data.u64 = mark};
  return epoll_ctl(epoll, EPOLL_CTL_MOD, descriptor, &event);
}

int halo_epoll_remove(int epoll, int descriptor) { return epoll_ctl(epoll, EPOLL_CTL_DEL, descriptor, NULL); }

int halo_epoll_wait(int epoll, uint32_t *events, uint64_t *marks, int milliseconds) {
  struct epoll_event ready[HALO_EPOLL_MOST];
  int count = epoll_wait(epoll, ready, HALO_EPOLL_MOST, milliseconds);
  for (int i = 0; i < count; i++) {
    events[i] = ready[i].events;
    marks[i] = ready[i].data.u64;
  }
  return count;
}

int halo_event(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

int halo_semaphore(void) { return eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE); }

int halo_timer(void) { return timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK); }

int halo_timer_set(int timer, int64_t nanoseconds) {
  struct itimerspec time = {
    .it_value = {.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000}};
  return timerfd_settime(timer, TFD_TIMER_ABSTIME, &time, NULL);
}
#endif
