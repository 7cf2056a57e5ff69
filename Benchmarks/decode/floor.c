/* The floor of `halo-raw decode`: the least that any program pays to print a line per packet of a capture.
 *
 * Reads a btsnoop file of H4 packets (datalink 1002), parses the headers of HCI, L2CAP and ATT, and prints number, time,
 * direction, layer, the name of the ATT opcode, the handle and the value, or the opcode or event code with the
 * parameters. It keeps no state: no fragments, no links, no attributes, no requests, and no names but those of ATT.
 *
 *     cc -O2 -o floor floor.c && ./floor FILE
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { record_header = 24, file_header = 16, longest = 1 << 17 };

static const char *const att_names[64] = {
    [0x01] = "Error Response",
    [0x02] = "Exchange MTU Request",
    [0x03] = "Exchange MTU Response",
    [0x04] = "Find Information Request",
    [0x05] = "Find Information Response",
    [0x06] = "Find By Type Value Request",
    [0x07] = "Find By Type Value Response",
    [0x08] = "Read By Type Request",
    [0x09] = "Read By Type Response",
    [0x0A] = "Read Request",
    [0x0B] = "Read Response",
    [0x0C] = "Read Blob Request",
    [0x0D] = "Read Blob Response",
    [0x10] = "Read By Group Type Request",
    [0x11] = "Read By Group Type Response",
    [0x12] = "Write Request",
    [0x13] = "Write Response",
    [0x16] = "Prepare Write Request",
    [0x17] = "Prepare Write Response",
    [0x18] = "Execute Write Request",
    [0x19] = "Execute Write Response",
    [0x1B] = "Handle Value Notification",
    [0x1D] = "Handle Value Indication",
    [0x1E] = "Handle Value Confirmation",
};

static uint32_t big32(const uint8_t *p) {
  return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static unsigned little16(const uint8_t *p) { return p[0] | (unsigned)p[1] << 8; }

static void hex(const uint8_t *bytes, size_t count) {
  static const char digits[] = "0123456789abcdef";
  static char text[2 * longest];
  for (size_t i = 0; i < count; i++) {
    text[2 * i] = digits[bytes[i] >> 4];
    text[2 * i + 1] = digits[bytes[i] & 15];
  }
  fwrite(text, 1, 2 * count, stdout);
}

static void print_att(const uint8_t *pdu, size_t count) {
  unsigned opcode = pdu[0];
  const char *name = opcode == 0x52 ? "Write Command" : opcode < 64 ? att_names[opcode] : NULL;
  fputs(name ? name : "ATT", stdout);
  switch (opcode) {
    case 0x0A: case 0x0C: case 0x12: case 0x16: case 0x17: case 0x1B: case 0x1D: case 0x52:
      if (count >= 3) {
        printf(", 0x%04x: ", little16(pdu + 1));
        hex(pdu + 3, count - 3);
        return;
      }
  }
  fputs(": ", stdout);
  hex(pdu + 1, count - 1);
}

static void print_packet(const uint8_t *p, size_t count) {
  if (count >= 4 && p[0] == 1) {
    printf("command 0x%04x: ", little16(p + 1));
    hex(p + 4, count - 4);
  } else if (count >= 3 && p[0] == 4) {
    printf("event 0x%02x: ", p[1]);
    hex(p + 3, count - 3);
  } else if (count > 9 && p[0] == 2 && (little16(p + 1) >> 12 & 3) != 1) {
    unsigned channel = little16(p + 7);
    printf("link 0x%04x, ", little16(p + 1) & 0xFFF);
    if (channel == 4) return print_att(p + 9, count - 9);
    printf("channel 0x%04x: ", channel);
    hex(p + 9, count - 9);
  } else {
    fputs("data: ", stdout);
    if (count > 1) hex(p + 1, count - 1);
  }
}

int main(int argc, char **argv) {
  static uint8_t header[record_header], packet[longest];
  FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
  if (!file) {
    fprintf(stderr, "usage: floor FILE\n");
    return 64;
  }
  static char input[1 << 16], output[1 << 16];
  setvbuf(file, input, _IOFBF, sizeof input);
  setvbuf(stdout, output, _IOFBF, sizeof output);
  if (fread(packet, 1, file_header, file) != file_header || memcmp(packet, "btsnoop", 8) != 0) return 65;
  uint64_t start = 0;
  for (unsigned number = 1; fread(header, 1, record_header, file) == record_header; number++) {
    uint32_t count = big32(header + 4);
    if (count > longest || fread(packet, 1, count, file) != count) return 65;
    uint64_t time = (uint64_t)big32(header + 16) << 32 | big32(header + 20);
    if (number == 1) start = time;
    uint64_t elapsed = time - start;
    printf("%7u  %7" PRIu64 ".%06" PRIu64 "  %s  ", number, elapsed / 1000000, elapsed % 1000000,
           header[11] & 1 ? "<-" : "->");
    print_packet(packet, count);
    putchar('\n');
  }
  return 0;
}
