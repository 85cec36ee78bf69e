// What Swift cannot reach in SQLite: a variadic function, and destructors that are casts of numbers.
#pragma once

#include <sqlite3.h>

/// Sets an option of one connection that is on or off.
int storage_set_option(sqlite3 *_Nonnull connection, int option, int isOn);

/// Takes SQLite's own lock on the file of a connection that has done nothing yet, without reading it: until the connection
/// closes, nobody else has the file open. SQLITE_BUSY where somebody has.
int storage_lock_alone(sqlite3 *_Nonnull connection);

/// Whether the file that the connection has open is no longer the one that has its name.
int storage_has_moved(sqlite3 *_Nonnull connection);

/// Binds text or bytes that SQLite copies. No pointer stands for an empty value, never for NULL.
int storage_bind_text(sqlite3_stmt *_Nonnull statement, int index, const void *_Nullable bytes, sqlite3_uint64 count);
int storage_bind_blob(sqlite3_stmt *_Nonnull statement, int index, const void *_Nullable bytes, sqlite3_uint64 count);
