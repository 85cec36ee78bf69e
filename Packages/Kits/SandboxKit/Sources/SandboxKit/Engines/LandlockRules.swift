import CSandboxKit
import Capabilities
import FileKit
import Glibc

/// A Landlock ruleset for the files that a command may read and change.
///
/// A rule applies to everything in a folder, without exceptions. So a folder with guarded or hidden entries gets no
/// such rule. Each of its other entries gets a rule instead, and in the folder itself nothing can be created, moved or
/// removed.
final class LandlockRules: Sendable {
    let descriptor: FileDescriptor
    private let version: LandlockVersion

    /// Allows nothing yet.
    init(_ version: LandlockVersion) throws(SandboxError) {
        self.version = version
        descriptor = FileDescriptor(
            owning: try Self.checked(sandboxkit_landlock_rules(version.rights.rawValue, version.scopes)),
            path: "Landlock rules")
    }

    /// Allows what the mounts show. `folder` is the writable one.
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

    /// Allows a whole path. A path that does not exist needs no rule.
    func allow(_ rights: LandlockRights, at path: String) throws(SandboxError) {
        try allow(rights, at: AbsolutePath(path), nil)
    }

    private func allow(
        _ rights: LandlockRights, at path: AbsolutePath, _ exceptions: Exceptions?
    ) throws(SandboxError) {
        let opened = unsafe sandboxkit_landlock_place(path.bytes.map(CChar.init(bitPattern:)) + [0])
        guard opened >= 0 else {
            // A path that this process cannot reach is out of the command's reach as well.
            if [ENOENT, EACCES, ENOTDIR].contains(-opened) { return }
            throw SandboxError.notMade("\(PlainText.escape(path.text)): \(SystemError(-opened))")
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
        // Readable folders may be listed, with everything in them.
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
            // A folder that cannot be listed has no entries to allow, and the command cannot list it either.
            if error.kind == .denied { return }
            throw SandboxError.notMade(error.message)
        }
        for entry in entries where entry.kind == .directory || entry.kind == .regular {
            // Another program may have removed it. New entries get no rule.
            guard let opened = try? folder.openEntry(entry.name.bytes, to: .look, naming: entry.name) else { continue }
            var status = stat()
            guard unsafe fstat(opened.rawValue, &status) == 0, status.st_mode & S_IFMT != S_IFLNK else { continue }
            // By identity as well, because different names may mean the same file.
            let known = inner[Exceptions.Identity(status)] ?? exceptions.inner[entry.name.bytes]
            try allow(rights, in: Folder(opened, resolver: .steps), known)
        }
    }

    private func add(_ wanted: LandlockRights, to place: borrowing FileDescriptor) throws(SandboxError) {
        var status = stat()
        guard unsafe fstat(place.rawValue, &status) == 0 else {
            throw SandboxError.notMade("cannot check \(PlainText.escape(place.path))")
        }
        var rights = wanted.intersection(version.rights)
        if status.st_mode & S_IFMT != S_IFDIR { rights.formIntersection(.ofFiles) }
        if rights.isEmpty { return }
        _ = try Self.checked(sandboxkit_landlock_allow(descriptor.rawValue, place.rawValue, rights.rawValue))
    }

    private static func checked(_ result: Int32) throws(SandboxError) -> Int32 {
        guard result >= 0 else { throw SandboxError.notMade("Landlock rules: \(SystemError(-result))") }
        return result
    }
}

extension LandlockRules {
    /// The guarded and hidden paths below a folder, as a tree.
    fileprivate struct Exceptions {
        private(set) var kind: Mount.Kind?
        private(set) var inner: [[UInt8]: Exceptions] = [:]

        struct Identity: Hashable {
            let device: UInt
            let number: UInt

            init(_ status: stat) { (device, number) = (UInt(status.st_dev), UInt(status.st_ino)) }
        }

        /// Nil if there are none.
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
                // The last kind is the strictest.
                if new.rawValue > (kind?.rawValue ?? -1) { kind = new }
                return
            }
            inner[name, default: Exceptions()].add(new, names.dropFirst())
        }

        var hasHidden: Bool { kind == .hiddenFile || hasHiddenFolder || inner.values.contains(where: \.hasHidden) }

        var hasHiddenFolder: Bool { kind == .hiddenFolder || inner.values.contains(where: \.hasHiddenFolder) }

        /// Whether rights for the whole folder would allow too much.
        func areIn(_ rights: LandlockRights) -> Bool { rights != .read || hasHidden }

        /// The entries of a folder, by identity.
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

/// The Landlock version of a kernel, which determines what it can restrict.
struct LandlockVersion: Hashable, Sendable {
    /// Before this version files cannot be moved between folders.
    private static let first: Int32 = 2

    let number: Int32

    static func ofKernel() -> Result<LandlockVersion, SandboxError> {
        let number = sandboxkit_landlock_version()
        if number >= first { return .success(LandlockVersion(number: number)) }
        let cause =
            number > 0
            ? "the kernel's Landlock is too old (version \(number) of at least \(first))"
            : "the kernel has no Landlock (\(SystemError(-number)))"
        return .failure(SandboxError(.unavailable, cause))
    }

    /// All rights that it can restrict.
    var rights: LandlockRights {
        var rights = LandlockRights(rawValue: (1 << 14) - 1)
        if number >= 3 { rights.insert(.truncate) }
        if number >= 5 { rights.insert(.control) }
        return rights
    }

    /// Restricts access to other processes and abstract sockets, in the kernel's numbering.
    var scopes: UInt64 { number >= 6 ? 3 : 0 }

    /// What the system call filter must do in its place.
    var filter: FilterKinds { number >= 3 ? .shared : [.shared, .noTruncating] }

    /// Weaknesses that the user should know about.
    var weaknesses: [String] {
        number >= 6 ? [] : ["this kernel's Landlock does not stop commands from signalling your other processes"]
    }
}

/// Rights for a file, or for a folder and everything in it, in the kernel's numbering.
struct LandlockRights: OptionSet {
    let rawValue: UInt64

    static let execute = LandlockRights(rawValue: 1 << 0)
    static let writeFile = LandlockRights(rawValue: 1 << 1)
    static let readFile = LandlockRights(rawValue: 1 << 2)
    static let list = LandlockRights(rawValue: 1 << 3)
    /// Removing, creating and moving anything but devices and sockets.
    static let change = LandlockRights(rawValue: 1 << 4 | 1 << 5 | 1 << 7 | 1 << 8 | 1 << 10 | 1 << 12 | 1 << 13)
    static let truncate = LandlockRights(rawValue: 1 << 14)
    /// `ioctl` on a device.
    static let control = LandlockRights(rawValue: 1 << 15)

    static let read: LandlockRights = [.execute, .readFile, .list]
    static let write: LandlockRights = [.read, .writeFile, .change, .truncate]
    static let device: LandlockRights = [.readFile, .writeFile, .truncate, .control]
    /// The rights that apply to files.
    static let ofFiles: LandlockRights = [.execute, .writeFile, .readFile, .truncate, .control]
}
