import Capabilities
import FileKit
import Glibc

/// Another process that has a database open.
struct FileHolder: Hashable {
    /// Zero where it cannot be seen from here, as from a container.
    let process: Int32

    var words: String {
        guard process > 0 else { return "a program that cannot be seen from here" }
        // A process that has ended meanwhile has no name any more.
        let name = (try? Files.read("/proc/\(process)/comm", limit: 64)).map { String(decoding: $0, as: UTF8.self) }
        let word = name.map { PlainText.escape($0.filter { $0 != "\n" }) } ?? "a program"
        return "\(word) (process \(process))"
    }
}

extension DatabaseFile {
    /// Everybody else who has it open: SQLite locks a byte of the log's index for as long as a connection lasts, or of the
    /// file where there is no log, and the kernel lists all locks. Whoever has a descriptor of it cannot be found
    /// otherwise: those of a program that guards its secrets are shown to nobody.
    func holders() throws -> [FileHolder] {
        let files = [path, "\(path)-shm"].compactMap(FileLockEntry.Place.init(of:))
        guard !files.isEmpty else { return [] }
        let entries = String(decoding: try Files.read("/proc/locks", limit: 64 << 20), as: UTF8.self)
            .split(separator: "\n").compactMap(FileLockEntry.init)
        // Some file systems tell programs other devices than the kernel lists. A connection of our own shows which.
        let own = entries.filter { entry in
            entry.process == getpid() && files.contains { $0.number == entry.place.number }
        }
        let places = Set(files + own.map(\.place))
        var found: [FileHolder] = []
        for entry in entries where entry.process != getpid() && places.contains(entry.place) {
            let holder = FileHolder(process: max(0, entry.process))
            if !found.contains(holder) { found.append(holder) }
        }
        return found
    }
}

/// A line of the kernel's list of locks, such as `1: POSIX  ADVISORY  READ 4711 fe:00:1234 128 128`.
private struct FileLockEntry {
    struct Place: Hashable {
        let major: UInt64
        let minor: UInt64
        let number: UInt64

        /// Nil where there is no such file.
        init?(of path: String) {
            var status = stat()
            guard unsafe stat(path, &status) == 0 else { return nil }
            let device = UInt64(status.st_dev)
            major = (device >> 8) & 0xfff | (device >> 32) & ~0xfff
            minor = device & 0xff | (device >> 12) & ~0xff
            number = UInt64(status.st_ino)
        }

        init?(_ text: Substring) {
            let parts = text.split(separator: ":")
            guard parts.count == 3, let major = UInt64(parts[0], radix: 16), let minor = UInt64(parts[1], radix: 16),
                let number = UInt64(parts[2])
            else { return nil }
            (self.major, self.minor, self.number) = (major, minor, number)
        }
    }

    let process: Int32
    let place: Place

    init?(_ line: Substring) {
        let fields = line.split(separator: " ")
        // Who waits for a lock has `->` before it.
        let first = fields.dropFirst().first == "->" ? 2 : 1
        guard fields.count > first + 4, fields[first] == "POSIX", let process = Int32(fields[first + 3]),
            let place = Place(fields[first + 4])
        else { return nil }
        (self.process, self.place) = (process, place)
    }
}
