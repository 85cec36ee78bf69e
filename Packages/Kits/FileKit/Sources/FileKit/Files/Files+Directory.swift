import Glibc

extension Files {
    /// One name in a directory.
    public struct Entry: Sendable, Hashable {
        /// The name without its directory.
        public let name: String
        /// What sort of entry it is; symbolic links are not followed.
        public let kind: FileInfo.Kind
    }

    /// The entries of a directory in the order of their names; more than `limit` of them is an error.
    public static func list(_ directory: String, limit: Int = 100_000) throws(FileError) -> [Entry] {
        try FileError.refuseZero(directory, "list")
        guard let stream = unsafe opendir(directory) else { throw FileError("list", directory, errno: errno) }
        defer { unsafe closedir(stream) }
        var entries: [Entry] = []
        while true {
            // readdir tells its end from a failure by errno alone.
            errno = 0
            guard let found = unsafe readdir(stream) else { break }
            let name = unsafe withUnsafeBytes(of: &found.pointee.d_name) { field in
                unsafe String(decoding: field.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name == "." || name == ".." { continue }
            guard entries.count < limit else {
                throw FileError(.tooLarge, "list", directory, because: "it holds more than \(limit) entries")
            }
            let kind = try kind(unsafe found.pointee.d_type, at: "\(directory)/\(name)")
            entries.append(Entry(name: name, kind: kind))
        }
        guard errno == 0 else { throw FileError("list", directory, errno: errno) }
        return entries.sorted { $0.name < $1.name }
    }

    /// Makes the directory and those above it that are missing, each with `mode`; an existing one is left as it is.
    public static func makeDirectories(_ path: String, mode: UInt32 = 0o700) throws(FileError) {
        try FileError.refuseZero(path, "make directory")
        if unsafe mkdir(path, mode) == 0 { return }
        var failure = errno
        let parent = PathParts(path).directory
        if failure == ENOENT, parent != path, parent != "." {
            try makeDirectories(parent, mode: mode)
            if unsafe mkdir(path, mode) == 0 { return }
            failure = errno
        }
        // Somebody else may have made it meanwhile, and EEXIST also stands for a file.
        guard failure == EEXIST else { throw FileError("make directory", path, errno: failure) }
        guard try info(path).kind == .directory else { throw FileError("make directory", path, errno: EEXIST) }
    }

    /// Removes a file, a symbolic link (never what it points to) or an empty directory.
    public static func remove(_ path: String) throws(FileError) {
        try FileError.refuseZero(path, "remove")
        guard unsafe Glibc.remove(path) == 0 else { throw FileError("remove", path, errno: errno) }
    }

    // Not every file system fills in d_type.
    private static func kind(_ type: UInt8, at path: String) throws(FileError) -> FileInfo.Kind {
        switch Int(type) {
        case Int(DT_REG): .regular
        case Int(DT_DIR): .directory
        case Int(DT_LNK): .symbolicLink
        case Int(DT_FIFO): .fifo
        case Int(DT_SOCK): .socket
        case Int(DT_CHR), Int(DT_BLK): .device
        default: try info(path, followLinks: false).kind
        }
    }
}
