import Capabilities
import FileKit
import Glibc

/// The file of a database, and the files that SQLite puts beside it.
///
/// This code never opens a descriptor of the file: when a process closes any descriptor of a file, POSIX drops all its
/// locks on that file, including SQLite's.
struct DatabaseFile: Sendable {
    let path: String

    private var companions: [String] { ["\(path)-wal", "\(path)-shm", "\(path)-journal"] }
    private var suspicion: String { "\(path).suspect" }

    /// Creates an empty private file, and restricts the permissions of an existing one.
    ///
    /// SQLite gives the files beside it the same permissions.
    func make() throws {
        let folder = PathParts(path).folder
        if !Files.exists(folder) { try Files.makeDirectories(folder) }
        // Unlike open, mknod leaves no descriptor to close.
        if unsafe mknod(path, mode_t(S_IFREG | 0o600), 0) == 0 {
            // The umask may have removed permissions.
            unsafe chmod(path, 0o600)
        } else if errno != EEXIST {
            throw StorageError(.open, "cannot create \(PlainText.escape(path)): \(SystemError(errno))")
        }
        for file in [path] + companions { try narrow(file) }
    }

    private func narrow(_ file: String) throws {
        guard let info = try info(file), info.mode & 0o077 != 0, unsafe chmod(file, 0o600) != 0,
            errno != EROFS, errno != ENOENT
        else { return }
        throw StorageError(
            .open,
            "other users can read \(PlainText.escape(file)), and its permissions cannot be changed: "
                + "\(SystemError(errno))")
    }

    // MARK: Damage

    /// Whether the whole file should be checked before use: it is small, or damage was found before.
    var isToBeChecked: Bool {
        get throws { try Files.exists(suspicion) || size(path) <= 256 << 10 }
    }

    /// Whether the file was truncated in a way that SQLite does not notice.
    ///
    /// SQLite treats a file of up to one byte as new and discards its log, and reads half a page as if the rest were
    /// zeros. A new file has its first page before it has a log, so the log is checked before the size. Half a page is
    /// not damage while the log or a journal contains the whole page.
    var isCutShort: Bool {
        get throws {
            let hasLog = try size("\(path)-wal") > 0
            let hasJournal = try size("\(path)-journal") > 0
            let size = try size(path)
            return hasLog && size <= 1 || !hasLog && !hasJournal && size % 512 != 0
        }
    }

    /// Lets the next start check the whole file.
    func suspect() {
        // On a full or read-only disk there is no marker; the damage will be found again in the same place.
        do { try Files.writeAtomically([], to: suspicion) } catch {}
    }

    func trust() throws {
        if unsafe unlink(suspicion) != 0, errno != ENOENT {
            throw StorageError(.open, "cannot remove \(PlainText.escape(suspicion)): \(SystemError(errno))")
        }
    }

    /// Renames the file and those beside it, and returns the new name. Nothing is deleted.
    func setAside(at time: Timestamp) throws -> String {
        var name = "\(path).damaged-\(time.compact)Z"
        var number = 1
        while Files.exists(name) {
            number += 1
            name = "\(path).damaged-\(time.compact)Z-\(number)"
        }
        // The main file is renamed last. Otherwise a new one could use the old log.
        for file in companions + [path] { try rename(file, name + file.dropFirst(path.count)) }
        return name
    }

    /// The files that `setAside` renamed, the oldest first, without those that SQLite had put beside them.
    var setAsides: [String] {
        get throws {
            let parts = PathParts(path)
            guard !path.isEmpty, Files.exists(parts.folder) else { return [] }
            let beginning = "\(parts.name).damaged-"
            return try Files.list(parts.folder).map(\.name).filter { name in
                name.hasPrefix(beginning) && !["-wal", "-shm", "-journal"].contains { name.hasSuffix($0) }
            }.map { path + $0.dropFirst(parts.name.count) }
        }
    }

    /// Removes the files that `setAside` renamed, with those beside them, and returns their names.
    func removeSetAsides() throws -> [String] {
        let found = try setAsides
        for file in found {
            for part in DatabaseFile(path: file).companions where Files.exists(part) { try Files.remove(part) }
            try Files.remove(file)
        }
        return found
    }

    private func rename(_ old: String, _ new: String) throws {
        guard unsafe Glibc.rename(old, new) == 0 || errno == ENOENT else {
            throw StorageError(
                .open, "\(PlainText.escape(old)) is damaged and cannot be moved aside: \(SystemError(errno))")
        }
    }

    // MARK: Size

    /// The size on the disk, including the log.
    var size: Int {
        get throws { try size(path) + size("\(path)-wal") }
    }

    /// Whether the log is longer than that, or cannot be inspected.
    func hasLog(longerThan bytes: Int) -> Bool {
        do { return try size("\(path)-wal") > bytes } catch { return true }
    }

    private func size(_ file: String) throws -> Int {
        try Int(info(file)?.size ?? 0)
    }

    /// SQLite may remove the files beside it at any moment.
    private func info(_ file: String) throws -> FileInfo? {
        do {
            return try Files.info(file)
        } catch let error where error.kind == .notFound {
            return nil
        }
    }
}

extension DatabaseFile {
    /// Removes an unfinished copy, as far as it exists.
    func removeAll() {
        for file in [path] + companions { unsafe unlink(file) }
    }
}

/// Another process that has a database open.
struct FileHolder: Hashable {
    /// Zero when it is not visible from here, such as from a container.
    let process: Int32

    var words: String {
        guard process > 0 else { return "a program that is not visible from here" }
        // A process that has ended has no name.
        let name = (try? Files.read("/proc/\(process)/comm", limit: 64)).map { String(decoding: $0, as: UTF8.self) }
        let word = name.map { PlainText.escape($0.filter { $0 != "\n" }) } ?? "a program"
        return "\(word) (process \(process))"
    }
}

extension DatabaseFile {
    /// The other processes that have it open. SQLite locks a byte of the log's index during a connection, or of the
    /// file without a log, and the kernel lists all locks. Open descriptors cannot be used for this, because those of a
    /// program that guards its secrets are hidden.
    func holders() throws -> [FileHolder] {
        let files = [path, "\(path)-shm"].compactMap(FileLockEntry.Place.init(of:))
        guard !files.isEmpty else { return [] }
        let entries = String(decoding: try Files.read("/proc/locks", limit: 64 << 20), as: UTF8.self)
            .split(separator: "\n").compactMap(FileLockEntry.init)
        // Some file systems report other device numbers to programs than in the kernel's list. An own connection shows
        // the right one.
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

    func requireAlone() throws {
        let holders = try holders().map(\.words)
        guard holders.isEmpty else {
            throw StorageError(
                .busy,
                "\(PlainText.escape(path)) is open in \(holders.joined(separator: ", ")); stop that program first, then try again"
            )
        }
    }
}

/// A line of the kernel's list of locks, such as `1: POSIX  ADVISORY  READ 4711 fe:00:1234 128 128`.
private struct FileLockEntry {
    struct Place: Hashable {
        let major: UInt64
        let minor: UInt64
        let number: UInt64

        /// Nil when the file does not exist.
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
        // A process that waits for a lock has `->` before it.
        let first = fields.dropFirst().first == "->" ? 2 : 1
        guard fields.count > first + 4, fields[first] == "POSIX", let process = Int32(fields[first + 3]),
            let place = Place(fields[first + 4])
        else { return nil }
        (self.process, self.place) = (process, place)
    }
}
