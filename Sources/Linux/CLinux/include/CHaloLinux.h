// The parts of Linux that Swift's Glibc module leaves out: event descriptors, and, as plain functions, system calls
// that glibc does not wrap or that are variadic. Each function returns -1 and sets errno when it fails.
//
// No library imports this module: all are declared again in SystemCalls/LinuxFunctions.swift.
#pragma once
// On other systems, HaloBluetoothCore says what is wrong, and nothing else.
#ifdef __linux__

#include <linux/capability.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// accept4 with a non-blocking descriptor that is closed on exec.
int halo_accept(int listener);

// A new file without a name in a folder, or in memory where the file system has none; O_RDWR, mode 0600, closed on
// exec.
int halo_open_unnamed(const char *_Nonnull folder);

// Starts a program with its arguments, which a null pointer ends, in a process group of its own. The first one is its path, or
// its name in PATH. Its input is /dev/null.
//
// Returns the descriptor of its output, closed on exec; below 0, an error number with its sign changed.
int halo_start_program(char *const _Nullable *_Nonnull arguments, pid_t *_Nonnull process);

// The user who made the other end of a Unix domain socket.
int halo_peer(int socket, uid_t *_Nonnull user);

// An epoll descriptor that is closed on exec.
int halo_epoll(void);

// Adds a descriptor, or changes it: the events to wait for, as bits of epoll, and what halo_epoll_wait says for it.
int halo_epoll_add(int epoll, int descriptor, uint32_t events, uint64_t mark);
int halo_epoll_change(int epoll, int descriptor, uint32_t events, uint64_t mark);
int halo_epoll_remove(int epoll, int descriptor);

enum { HALO_EPOLL_MOST = 16 };

// Waits, at most this many milliseconds, or forever if it is negative, for at most HALO_EPOLL_MOST descriptors. Writes
// the events and the mark of each, and returns their number.
int halo_epoll_wait(int epoll, uint32_t *_Nonnull events, uint64_t *_Nonnull marks, int milliseconds);

// An eventfd that does not block, closed on exec.
int halo_event(void);

// An eventfd as a semaphore: a read takes one, and blocks if there is none; closed on exec.
int halo_semaphore(void);

// A timerfd of CLOCK_MONOTONIC that does not block, closed on exec.
int halo_timer(void);

// Sets the time of a timerfd, in nanoseconds of its clock; zero stops it.
int halo_timer_set(int timer, int64_t nanoseconds);

// Whether the kernel takes its time of day for right, because a time server is asked: 1 or 0.
int halo_clock_is_synchronized(void);

// Whether a capability is effective for the calling thread: 1 or 0.
int halo_has_capability(int capability);

// The capabilities of the calling thread, a bit for each: what it could use, and what it uses. A program that it
// becomes gets none of those that are set.
int halo_capabilities_get(uint64_t *_Nonnull permitted, uint64_t *_Nonnull effective);
int halo_capabilities_set(uint64_t permitted, uint64_t effective);

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
int halo_become(uid_t user, gid_t group, const char *_Nullable name);

// Whether real, effective and saved ids are all these.
int halo_is(uid_t user, gid_t group);

// The capabilities that a file grants to those who run it; both zero if it grants none.
int halo_file_capabilities(const char *_Nonnull path, uint64_t *_Nonnull permitted, int *_Nonnull effective);

// MHD_start_daemon of libmicrohttpd, which is variadic: its address; the flags; the functions that answer requests, that are
// told of their ends, and of the beginnings and ends of connections, with the argument of the first and the last; and the most
// connections, the seconds after which an idle one is closed, and the bytes of memory of each.
//
// Returns the daemon; null if it does not start.
void *_Nullable halo_http_start(void *_Nonnull start, unsigned flags, void *_Nonnull answer, void *_Nonnull completed,
                                void *_Nonnull connected, void *_Nullable argument, unsigned connections, unsigned seconds,
                                size_t memory);

// The descriptor of a connection of libmicrohttpd; -1 if it has none. MHD_get_connection_info is variadic.
int halo_http_descriptor(void *_Nonnull get_info, void *_Nonnull connection);

// The calling thread's number, as in /proc/self/task.
pid_t halo_thread(void);

#endif
