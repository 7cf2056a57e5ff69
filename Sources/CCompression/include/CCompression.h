// libarchive and zlib, loaded when a compressed capture is opened: most programs never need them. Their interfaces have been
// stable for more than ten years, so a build needs no headers of theirs; the declarations are those of archive.h,
// archive_entry.h and zlib.h.
#pragma once

#include <stddef.h>
#include <sys/types.h>

#define HALO_ARCHIVE_EOF 1
#define HALO_ARCHIVE_OK 0
#define HALO_ARCHIVE_WARN (-20)
#define HALO_ARCHIVE_FORMAT_BASE_MASK 0xff0000
#define HALO_ARCHIVE_FORMAT_ZIP 0x50000
#define HALO_ARCHIVE_FORMAT_RAW 0x90000

// The functions of libarchive that are used: result, name without archive_, parameters.
#define HALO_ARCHIVE_FUNCTIONS(each) \
  each(void *_Nullable, read_new, (void)) \
  each(int, read_free, (void *_Nonnull)) \
  each(int, read_support_filter_gzip, (void *_Nonnull)) \
  each(int, read_support_filter_bzip2, (void *_Nonnull)) \
  each(int, read_support_filter_xz, (void *_Nonnull)) \
  each(int, read_support_filter_zstd, (void *_Nonnull)) \
  each(int, read_support_filter_lz4, (void *_Nonnull)) \
  each(int, read_support_format_zip, (void *_Nonnull)) \
  each(int, read_support_format_tar, (void *_Nonnull)) \
  each(int, read_support_format_raw, (void *_Nonnull)) \
  each(int, read_open_fd, (void *_Nonnull, int, size_t)) \
  each(int, read_next_header, (void *_Nonnull, void *_Nullable *_Nonnull)) \
  each(ssize_t, read_data, (void *_Nonnull, void *_Nonnull, size_t)) \
  each(int, format, (void *_Nonnull)) \
  each(const char *_Nullable, error_string, (void *_Nonnull)) \
  each(const char *_Nullable, entry_pathname_utf8, (void *_Nonnull)) \
  each(const char *_Nullable, entry_pathname, (void *_Nonnull)) \
  each(mode_t, entry_filetype, (void *_Nonnull))

struct halo_archive {
#define HALO_ARCHIVE_MEMBER(result, name, parameters) result (*_Nonnull name) parameters;
  HALO_ARCHIVE_FUNCTIONS(HALO_ARCHIVE_MEMBER)
#undef HALO_ARCHIVE_MEMBER
};

// Loads libarchive. Returns zero, -1 if there is no library, or -2 if it lacks a function.
int halo_archive_load(struct halo_archive *_Nonnull functions);

// zlib's uncompress: decompresses a zlib stream (RFC 1950) that is in memory. Returns zero, -1 if there is no library, or
// -2 if the stream is damaged or does not fit.
int halo_uncompress(
  unsigned char *_Nonnull destination, size_t *_Nonnull length, const unsigned char *_Nonnull source, size_t count);
