#ifdef __linux__
#define _GNU_SOURCE
#include "CHaloLinux.h"

#include <endian.h>
#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

// The kernel takes 64 bits as two halves, the lower first.
static struct __user_cap_header_struct header(void) {
  return (struct __user_cap_header_struct){.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
}

int halo_capabilities_get(uint64_t *permitted, uint64_t *effective) {
  struct __user_cap_header_struct head = header();
  struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
  memset(data, 0, sizeof data);
  if (syscall(SYS_capget, &head, data) != 0) return -1;
  *permitted = data[0].permitted | (uint64_t)data[1].permitted << 32;
  *effective = data[0].effective | (uint64_t)data[1].effective << 32;
  return 0;
}

int halo_has_capability(int capability) {
  uint64_t permitted, effective;
  return halo_capabilities_get(&permitted, &effective) == 0 && (effective >> capability & 1);
}

int halo_capabilities_set(uint64_t permitted, uint64_t effective) {
  struct __user_cap_header_struct head = header();
  struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
  for (int half = 0; half < _LINUX_CAPABILITY_U32S_3; half++) {
    data[half].permitted = (uint32_t)(permitted >> 32 * half);
    data[half].effective = (uint32_t)(effective >> 32 * half);
    data[half].inheritable = 0;
  }
  return (int)syscall(SYS_capset, &head, data);
}

int halo_capabilities_keep(int keep) { return prctl(PR_SET_KEEPCAPS, keep, 0, 0, 0); }

int halo_no_new_privileges(void) { return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); }

int halo_ambient_clear(void) { return prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); }

int halo_bounding_clear(void) {
  for (int capability = 0; capability < 64; capability++) {
    int present = prctl(PR_CAPBSET_READ, capability, 0, 0, 0);
    if (present < 0) return 0;  // the kernel knows no more
    if (present && prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0) return -1;
  }
  return 0;
}

int halo_become(uid_t user, gid_t group, const char *name) {
  if ((name ? initgroups(name, group) : setgroups(1, &group)) != 0) return -1;
  if (setresgid(group, group, group) != 0) return -1;
  return setresuid(user, user, user);
}

int halo_is(uid_t user, gid_t group) {
  uid_t users[3];
  gid_t groups[3];
  if (getresuid(&users[0], &users[1], &users[2]) != 0) return 0;
  if (getresgid(&groups[0], &groups[1], &groups[2]) != 0) return 0;
  for (int i = 0; i < 3; i++)
    if (users[i] != user || groups[i] != group) return 0;
  return 1;
}

int halo_file_capabilities(const char *path, uint64_t *permitted, int *effective) {
  struct vfs_ns_cap_data data;
  memset(&data, 0, sizeof data);
  *permitted = 0;
  *effective = 0;
  ssize_t length = getxattr(path, "security.capability", &data, sizeof data);
  if (length < 0) return errno == ENODATA || errno == ENOTSUP ? 0 : -1;
  uint32_t magic = le32toh(data.magic_etc);
  // Revision 1, of 2007, had 32 capabilities; nobody writes it any more.
  if (length < (ssize_t)XATTR_CAPS_SZ_2) return 0;
  *permitted = le32toh(data.data[0].permitted) | (uint64_t)le32toh(data.data[1].permitted) << 32;
  *effective = magic & VFS_CAP_FLAGS_EFFECTIVE ? 1 : 0;
  return 0;
}

pid_t halo_thread(void) { return (pid_t)syscall(SYS_gettid); }
#endif
