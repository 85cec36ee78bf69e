import CSandboxKit
import Capabilities
import FileKit
import Glibc

/// A set of rules that says which files a command may read and change.
///
/// A rule holds for all that lies beneath, and nothing can be taken out of it. So a folder in which something is guarded or
/// hidden gets no rule that is about that as well: each of the other entries gets one of its own, and in the folder itself
/// nothing can be made, moved or removed.
final class LandlockRules: Sendable {
    let descriptor: FileDescriptor
    private let version: LandlockVersion

    /// Allows nothing as yet.
    init(_ version: LandlockVersion) throws(SandboxError) {
        self.version = version
        descriptor = FileDescriptor(
            owning: try Self.checked(sandboxkit_landlock_rules(version.rights.rawValue, version.scopes)),
            path: "rules of Landlock")
    }

    /// Allows what the mounts show. The one to write in is this folder.
    func allow(_ mounts: [Mount], around folder: Folder?) throws(SandboxError) {
        for mount in mounts {
            switch mount.kind {
            case .readable: try allow(.read, at: mount.path, Exceptions(mounts, beneath: mount.path))
            case .writable:
                let exceptions = Exceptions(mounts, beneath: mount.path)
                if let folder, mount.path == AbsolutePath(bytes: folder.location) {
                    try allow(.write, in: folder, exceptions)
                } else {
                    try allow(.write, at: mount.path, exceptions)
                }
            case .scratch, .fixed, .guarded, .hiddenFolder, .hiddenFile: continue
            }
        }
    }

    /// Allows something whole; what is not there needs no rule.
    func allow(_ rights: LandlockRights, at path: String) throws(SandboxError) {
        try allow(rights, at: AbsolutePath(path), nil)
    }

    private func allow(
        _ rights: LandlockRights, at path: AbsolutePath, _ exceptions: Exceptions?
    ) throws(SandboxError) {
        let opened = unsafe sandboxkit_landlock_place(path.bytes.map(CChar.init(bitPattern:)) + [0])
        guard opened >= 0 else {
            // What is out of this process's reach is out of the command's.
            if [ENOENT, EACCES, ENOTDIR].contains(-opened) { return }
            throw SandboxError.notMade("\(PlainText.escape(path.text)): \(MemoryFile.reason(-opened))")
        }
        try allow(rights, in: Folder(FileDescriptor(owning: opened, path: path.text), resolver: .steps), exceptions)
    }

    private func allow(
        _ wanted: LandlockRights, in place: Folder, _ exceptions: Exceptions?
    ) throws(SandboxError) {
        guard let exceptions else { return try add(wanted, to: place.descriptor) }
        var rights = wanted
        switch exceptions.kind {
        case .hiddenFolder, .hiddenFile: return
        case .guarded: rights = .read
        default: break
        }
        guard exceptions.areIn(rights) else { return try add(rights, to: place.descriptor) }
        // What may be read may be listed, and that of all that is beneath.
        if !exceptions.hasHidden {
            try add(.read, to: place.descriptor)
        } else if !exceptions.hasHiddenFolder {
            try add(.list, to: place.descriptor)
        }
        if rights == .read, !exceptions.hasHidden { return }
        try allowEach(rights, in: place, exceptions)
    }

    private func allowEach(_ rights: LandlockRights, in folder: Folder, _ exceptions: Exceptions) throws(SandboxError) {
        let inner = exceptions.identified(in: folder)
        let entries: [Files.Entry]
        do throws(FileError) {
            entries = try Files.list("/proc/self/fd/\(folder.descriptor.rawValue)")
        } catch {
            // What cannot be listed holds nothing that can be allowed by name, and is not known to the command either.
            if error.kind == .denied { return }
            throw SandboxError.notMade(error.message)
        }
        for entry in entries where entry.kind == .directory || entry.kind == .regular {
            // Another program may have removed it meanwhile; what has come since has no rule.
            guard let opened = try? folder.openEntry(entry.name.bytes, to: .look, naming: entry.name) else { continue }
            var status = stat()
            guard unsafe fstat(opened.rawValue, &status) == 0, status.st_mode & S_IFMT != S_IFLNK else { continue }
            // By what it is too: names that differ may mean the same.
            let known = inner[Exceptions.Identity(status)] ?? exceptions.inner[entry.name.bytes]
            try allow(rights, in: Folder(opened, resolver: .steps), known)
        }
    }

    private func add(_ wanted: LandlockRights, to place: borrowing FileDescriptor) throws(SandboxError) {
        var status = stat()
        guard unsafe fstat(place.rawValue, &status) == 0 else {
            throw SandboxError.notMade("\(PlainText.escape(place.path)) cannot be looked at")
        }
        var rights = wanted.intersection(version.rights)
        if status.st_mode & S_IFMT != S_IFDIR { rights.formIntersection(.ofFiles) }
        if rights.isEmpty { return }
        _ = try Self.checked(sandboxkit_landlock_allow(descriptor.rawValue, place.rawValue, rights.rawValue))
    }

    private static func checked(_ result: Int32) throws(SandboxError) -> Int32 {
        guard result >= 0 else { throw SandboxError.notMade("the rules of Landlock: \(MemoryFile.reason(-result))") }
        return result
    }
}

extension LandlockRules {
    /// What is guarded or hidden beneath a place, as a tree.
    fileprivate struct Exceptions {
        private(set) var kind: Mount.Kind?
        private(set) var inner: [[UInt8]: Exceptions] = [:]

        struct Identity: Hashable {
            let device: UInt
            let number: UInt

            init(_ status: stat) { (device, number) = (UInt(status.st_dev), UInt(status.st_ino)) }
        }

        /// Nil where there is nothing.
        init?(_ mounts: [Mount], beneath place: AbsolutePath) {
            for mount in mounts {
                switch mount.kind {
                case .scratch, .readable, .writable: continue
                case .fixed, .guarded, .hiddenFolder, .hiddenFile:
                    guard let names = mount.path.names(beneath: place) else { continue }
                    add(mount.kind, names)
                }
            }
            if kind == nil, inner.isEmpty { return nil }
        }

        private init() {}

        private mutating func add(_ new: Mount.Kind, _ names: ArraySlice<[UInt8]>) {
            guard let name = names.first else {
                // The strictest is the last of them.
                if new.rawValue > (kind?.rawValue ?? -1) { kind = new }
                return
            }
            inner[name, default: Exceptions()].add(new, names.dropFirst())
        }

        var hasHidden: Bool { kind == .hiddenFile || hasHiddenFolder || inner.values.contains(where: \.hasHidden) }

        var hasHiddenFolder: Bool { kind == .hiddenFolder || inner.values.contains(where: \.hasHiddenFolder) }

        /// Whether rights on the whole would be too many.
        func areIn(_ rights: LandlockRights) -> Bool { rights != .read || hasHidden }

        /// The entries of a folder, by what they are.
        func identified(in folder: Folder) -> [Identity: Exceptions] {
            var known: [Identity: Exceptions] = [:]
            for (name, exceptions) in inner {
                var status = stat()
                let text = name.map(CChar.init(bitPattern:)) + [0]
                guard unsafe fstatat(folder.descriptor.rawValue, text, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
                    continue
                }
                known[Identity(status)] = exceptions
            }
            return known
        }
    }
}

/// What the Landlock of a kernel knows, which grows with its version.
struct LandlockVersion: Hashable, Sendable {
    /// Before it nothing can be moved from one folder to another.
    private static let first: Int32 = 2

    let number: Int32

    static func ofKernel() -> Result<LandlockVersion, SandboxError> {
        let number = sandboxkit_landlock_version()
        if number >= first { return .success(LandlockVersion(number: number)) }
        let cause =
            number > 0
            ? "the kernel's Landlock is too old (version \(number) of at least \(first))"
            : "the kernel has no Landlock (\(MemoryFile.reason(-number)))"
        return .failure(SandboxError(.unavailable, cause))
    }

    /// All that it can keep somebody from.
    var rights: LandlockRights {
        var rights = LandlockRights(rawValue: (1 << 14) - 1)
        if number >= 3 { rights.insert(.truncate) }
        if number >= 5 { rights.insert(.control) }
        return rights
    }

    /// The processes and abstract sockets of others, as the kernel numbers them.
    var scopes: UInt64 { number >= 6 ? 3 : 0 }

    /// What the filter of system calls has to do in its place.
    var filter: FilterKinds { number >= 3 ? .shared : [.shared, .noTruncating] }

    /// What a person should know.
    var weaknesses: [String] {
        number >= 6 ? [] : ["this kernel's Landlock does not keep commands from signals to other processes of yours"]
    }
}

/// What may be done with a file or a folder and all beneath it, as the kernel numbers it.
struct LandlockRights: OptionSet {
    let rawValue: UInt64

    static let execute = LandlockRights(rawValue: 1 << 0)
    static let writeFile = LandlockRights(rawValue: 1 << 1)
    static let readFile = LandlockRights(rawValue: 1 << 2)
    static let list = LandlockRights(rawValue: 1 << 3)
    /// To remove, make and move all but devices and sockets.
    static let change = LandlockRights(rawValue: 1 << 4 | 1 << 5 | 1 << 7 | 1 << 8 | 1 << 10 | 1 << 12 | 1 << 13)
    static let truncate = LandlockRights(rawValue: 1 << 14)
    /// `ioctl` on a device.
    static let control = LandlockRights(rawValue: 1 << 15)

    static let read: LandlockRights = [.execute, .readFile, .list]
    static let write: LandlockRights = [.read, .writeFile, .change, .truncate]
    static let device: LandlockRights = [.readFile, .writeFile, .truncate, .control]
    /// Those that something that is no folder can have.
    static let ofFiles: LandlockRights = [.execute, .writeFile, .readFile, .truncate, .control]
}
