// The parts of Linux that Swift's Glibc module leaves out: event descriptors, and, as plain functions, system calls that
// glibc does not wrap or that are variadic. Each function returns -1 and sets errno when it fails.
#pragma once

#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <sys/types.h>

// accept4 with a non-blocking descriptor that is closed on exec.
int halo_accept(int listener);

// A new file without a name in a folder, or in memory where the file system has none; O_RDWR, mode 0600, closed on exec.
int halo_open_unnamed(const char *folder);

// The user who made the other end of a Unix domain socket.
int halo_peer(int socket, uid_t *user);

// The capabilities of the calling thread, a bit for each: what it could use, what it uses, and what it would
// hand to a program that it becomes.
struct halo_capabilities {
  uint64_t permitted;
  uint64_t effective;
  uint64_t inheritable;
};

int halo_capabilities_get(struct halo_capabilities *capabilities);
int halo_capabilities_set(const struct halo_capabilities *capabilities);

// Whether the calling thread's permitted capabilities outlive its change from root to somebody else.
int halo_capabilities_keep(int keep);

// The calling thread, and those that it makes, can't gain a privilege by becoming another program.
int halo_no_new_privileges(void);

// Empties the calling thread's ambient set.
int halo_ambient_clear(void);

// Empties the calling thread's bounding set, which takes CAP_SETPCAP.
int halo_bounding_clear(void);

// Makes all threads of the process another user's: groups first, while that is still allowed. Without a name
// there are no groups but the one.
int halo_become(uid_t user, gid_t group, const char *name);

// Whether real, effective and saved ids are all these.
int halo_is(uid_t user, gid_t group);

// The capabilities that a file grants to those who run it; both zero if it grants none.
int halo_file_capabilities(const char *path, uint64_t *permitted, int *effective);

// The calling thread's number, as in /proc/self/task.
pid_t halo_thread(void);
