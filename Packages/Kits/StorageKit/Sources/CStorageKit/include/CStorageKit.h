// Parts of SQLite that Swift cannot use: a variadic function, and destructors that are casts of numbers.
#pragma once

#include <sqlite3.h>

/// Sets an option of one connection that is on or off.
int storage_set_option(sqlite3 *_Nonnull connection, int option, int isOn);

/// Takes SQLite's own lock on the file of an unused connection, without reading it: until the connection closes, no
/// other connection can open the file. SQLITE_BUSY when another connection has it open.
int storage_lock_alone(sqlite3 *_Nonnull connection);

/// Whether the open file no longer has its name.
int storage_has_moved(sqlite3 *_Nonnull connection);

/// Binds text or bytes that SQLite copies. A null pointer is an empty value, never NULL.
int storage_bind_text(sqlite3_stmt *_Nonnull statement, int index, const void *_Nullable bytes, sqlite3_uint64 count);
int storage_bind_blob(sqlite3_stmt *_Nonnull statement, int index, const void *_Nullable bytes, sqlite3_uint64 count);
