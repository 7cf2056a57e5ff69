#ifdef __linux__
#define _GNU_SOURCE
#include "CHaloLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <unistd.h>

extern char **environ;

int halo_start_program(char *const *arguments, pid_t *process) {
  int pipe[2];
  if (pipe2(pipe, O_CLOEXEC) != 0) return -errno;
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  int error = posix_spawn_file_actions_init(&actions);
  if (error == 0) error = posix_spawnattr_init(&attributes);
  if (error == 0) {
    // What this process blocks and ignores is not the program's.
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    error = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    if (error == 0) error = posix_spawn_file_actions_adddup2(&actions, pipe[1], 1);
    if (error == 0) error = posix_spawnp(process, arguments[0], &actions, &attributes, arguments, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
  }
  close(pipe[1]);
  if (error == 0) return pipe[0];
  close(pipe[0]);
  return -error;
}
#endif
