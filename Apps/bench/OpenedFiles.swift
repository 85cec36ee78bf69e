import Glibc

/// Counts the files that are opened, as the system tells it.
enum OpenedFiles {
    /// The number of different files directly in the folders that are opened while the work is done, by whomever.
    static func count(in folders: [String], during work: () throws -> Void) throws -> Int {
        let watch = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
        guard watch >= 0 else { throw BenchmarkError("no files can be watched") }
        defer { close(watch) }
        for folder in folders {
            guard unsafe inotify_add_watch(watch, folder, UInt32(IN_OPEN)) >= 0 else {
                throw BenchmarkError("\(folder) cannot be watched")
            }
        }
        try work()
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        let count = unsafe read(watch, &bytes, bytes.count)
        return names(bytes.prefix(max(0, count))).count
    }

    /// An event is four numbers, of which the last is the length of the name that follows; the folder itself has none.
    private static func names(_ bytes: ArraySlice<UInt8>) -> Set<[UInt8]> {
        let head = MemoryLayout<inotify_event>.size
        var found: Set<[UInt8]> = []
        var rest = bytes
        while rest.count >= head {
            let length = rest.prefix(head).suffix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
            let name = rest.dropFirst(head).prefix(length).prefix { $0 != 0 }
            if !name.isEmpty { found.insert(Array(name)) }
            rest = rest.dropFirst(head + length)
        }
        return found
    }
}
