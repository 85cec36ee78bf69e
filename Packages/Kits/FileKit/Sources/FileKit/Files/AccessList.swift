import CFileKit

/// Rights of single users and groups, as the kernel keeps them.
struct AccessList {
    let bytes: [UInt8]

    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// That of a file; nil where it has none beyond its mode, or the file system knows none.
    init?(of path: String) {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = unsafe filekit_access_list(path, &bytes, bytes.count)
        guard count > 0 else { return nil }
        self.bytes = Array(bytes[..<count])
    }

    /// Gives it to a file; false where that cannot have it.
    func set(on file: borrowing FileDescriptor) -> Bool {
        unsafe filekit_set_access_list(file.rawValue, bytes, bytes.count) == 0
    }
}
