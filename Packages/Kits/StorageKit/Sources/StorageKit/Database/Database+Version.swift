import CSQLite

extension Database {
    /// The version of SQLite that is loaded, as it says itself.
    public static var libraryVersion: String { unsafe String(cString: sqlite3_libversion()) }
}
