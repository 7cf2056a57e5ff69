// The kernel's Bluetooth socket ABI as libbluetooth-dev states it, and as plain functions what Swift can't make of it.
// Each function returns -1 and sets errno when it fails.
//
// No library imports this module: its functions, and the numbers of the kernel, are declared again in
// LinuxBluetooth/Sockets/KernelABI.swift. Tests compare the two.
#pragma once
// On other systems, HaloBluetoothCore says what is wrong, and nothing else.
#ifdef __linux__

#if !__has_include(<bluetooth/bluetooth.h>)
#error "halo-raw is built with the headers of BlueZ: apt install libbluetooth-dev"
#endif
#include <bluetooth/bluetooth.h>
#include <bluetooth/hci.h>
#include <bluetooth/l2cap.h>
#include <linux/sock_diag.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// Brings an adapter up. The kernel waits two seconds for each answer of the controller. Some controllers miss that the
// first time, so this tries again if they do, three times in all.
int halo_hci_up(int socket, uint16_t index);

// Brings an adapter down.
int halo_hci_down(int socket, uint16_t index);

// Ask the kernel: each takes a structure of hci.h with the question, and has the answer written into it.
int halo_hci_devices(int socket, void *_Nonnull list);
int halo_hci_device(int socket, void *_Nonnull device);
int halo_hci_links(int socket, void *_Nonnull list);
int halo_hci_link(int socket, void *_Nonnull link);

// The handle of the link of a connected L2CAP socket.
int halo_l2cap_handle(int socket, uint16_t *_Nonnull handle);

// What the kernel says of a packet besides its bytes. Swift has it as ReceivedPacket.
struct halo_received {
  size_t length;
  // When it came, in nanoseconds of CLOCK_REALTIME; zero if nobody noted it.
  int64_t wall_nanoseconds;
  // How many packets the socket has lost since it was opened, as its buffer was full; only if has_drops.
  uint32_t drops;
  bool has_drops;
};

enum { HALO_RECEIVE_MOST = 16 };

// Reads up to `most` packets, at most HALO_RECEIVE_MOST, with one call: at most `length` bytes of each, `stride` bytes
// apart in the buffer. Headers and control buffers stand on the stack: nothing is allocated.
//
// `about` has room for `most` struct halo_received. Returns the number of packets, or -1 with errno. The end of a
// stream is a packet of no bytes.
int halo_receive(
  int socket, void *_Nonnull buffer, size_t length, size_t stride, int most, void *_Nonnull about);

// The adapter helper: a process with CAP_NET_ADMIN and nothing else, which takes one adapter for the user channel and
// switches it on and off, for a program that has given the capability up. See AdapterHelper.swift.

enum { HALO_ADAPTER_TAKE = 1, HALO_ADAPTER_UP = 2, HALO_ADAPTER_DOWN = 3 };

struct halo_adapter_request {
  uint32_t number;
  uint16_t index;
  uint16_t what;
};

struct halo_adapter_reply {
  // Of the request.
  uint32_t number;
  // Zero, or why it was not done.
  int32_t error;
};

// Starts the helper for the adapter with an address of six bytes, in the byte order of the kernel. The helper ends when
// the result is closed, as it is when this process ends.
//
// Returns this side of the channel, which does not block, or the negative error number.
int halo_adapter_helper(const uint8_t *_Nonnull address, int receive_buffer);

// Reads a reply, and the descriptor that comes with it, or -1. Returns the number of bytes read, of which a whole reply
// has eight.
ssize_t halo_adapter_receive(
  int channel, uint32_t *_Nonnull number, int32_t *_Nonnull error, int *_Nonnull descriptor);

// The last command: a process without privileges that writes a packet to a descriptor when this process has ended. See
// Management.swift.

enum { HALO_LAST_COMMAND_MOST = 64 };

// Starts that process, which ends when the result is closed, as it is when this process ends. Each packet that the result is
// given, of at most HALO_LAST_COMMAND_MOST bytes, replaces the one before; one of a single byte stands for none.
//
// Returns this side of the channel, which does not block, or the negative error number.
int halo_last_command(int descriptor);

#endif
