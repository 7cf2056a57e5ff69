// sqlite3.h, with which tests compare the declarations of RingStore/SQLite/SQLiteFunctions.swift.
#pragma once

#include <sqlite3.h>

// The functions that are used, as sqlite3.h declares them.
struct halo_sqlite {
  __typeof__(sqlite3_open_v2) *_Nonnull open;
  __typeof__(sqlite3_close_v2) *_Nonnull close;
  __typeof__(sqlite3_busy_timeout) *_Nonnull busy_timeout;
  __typeof__(sqlite3_db_readonly) *_Nonnull is_read_only;
  __typeof__(sqlite3_errcode) *_Nonnull error_code;
  __typeof__(sqlite3_errmsg) *_Nonnull error_message;
  __typeof__(sqlite3_exec) *_Nonnull execute;
  __typeof__(sqlite3_changes) *_Nonnull changes;
  __typeof__(sqlite3_last_insert_rowid) *_Nonnull last_row;
  __typeof__(sqlite3_prepare_v2) *_Nonnull prepare;
  __typeof__(sqlite3_finalize) *_Nonnull finalize;
  __typeof__(sqlite3_step) *_Nonnull step;
  __typeof__(sqlite3_reset) *_Nonnull reset;
  __typeof__(sqlite3_bind_null) *_Nonnull bind_null;
  __typeof__(sqlite3_bind_int64) *_Nonnull bind_int_64;
  __typeof__(sqlite3_bind_double) *_Nonnull bind_double;
  __typeof__(sqlite3_bind_text) *_Nonnull bind_text;
  __typeof__(sqlite3_bind_blob) *_Nonnull bind_blob;
  __typeof__(sqlite3_column_type) *_Nonnull column_type;
  __typeof__(sqlite3_column_int64) *_Nonnull column_int_64;
  __typeof__(sqlite3_column_double) *_Nonnull column_double;
  __typeof__(sqlite3_column_text) *_Nonnull column_text;
  __typeof__(sqlite3_column_blob) *_Nonnull column_blob;
  __typeof__(sqlite3_column_bytes) *_Nonnull column_bytes;
  __typeof__(sqlite3_column_name) *_Nonnull column_name;
};
