import Synchronization

/// How files were when a tool last read or wrote them, so that a later one can tell whether somebody else was there.
final class SeenFiles: Sendable {
    /// Nobody reads more in one conversation; without a bound a long one would collect for ever.
    private static let largestCount = 10_000

    private let stamps = Mutex<[EntryPath: FileStamp]>([:])

    func note(_ path: EntryPath, _ stamp: FileStamp) {
        stamps.withLock { stamps in
            if stamps.count >= Self.largestCount { stamps.removeAll() }
            stamps[Self.key(path)] = stamp
        }
    }

    /// How the file was, if it was seen and is another one now.
    func former(_ path: EntryPath, now: FileStamp) -> FileStamp? {
        let former = stamps.withLock { $0[Self.key(path)] }
        return former == now ? nil : former
    }

    private static func key(_ path: EntryPath) -> EntryPath {
        EntryPath(bytes: Array(path.parts.joined(separator: [Byte.slash])))
    }
}
