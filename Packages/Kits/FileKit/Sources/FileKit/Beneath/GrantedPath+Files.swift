public import Capabilities
import Glibc

extension GrantedPath {
    /// Reads a regular file of at most `limit` bytes.
    public func read(limit: Int) throws(FileError) -> [UInt8] {
        guard let bounds else { return try Files.read(absolute, limit: limit) }
        let root = try opened(bounds, "read")
        // It is looked at before it is opened, for opening alone can set off a device.
        let place = try open(root, bounds.relative, to: .look, "read")
        try Files.requireRegular(try place.status(for: "read"), "read", absolute)
        let file = try open(root, bounds.relative, to: .read, "read")
        try check(file, bounds, "read")
        return try Files.read(file, limit: limit)
    }

    /// Replaces the file, or makes it with the folders above it.
    public func write(_ bytes: [UInt8]) throws(FileError) {
        guard let bounds else {
            try makeFolders()
            return try Files.writeAtomically(bytes, to: absolute)
        }
        let place = try self.place(bounds)
        let folder = "/proc/self/fd/\(place.folder.descriptor.rawValue)"
        // The write closes its descriptor, and the folder has its own.
        let directory = try open(place.folder, "", to: .list, "write")
        let write = try AtomicWrite(place.name, in: directory, at: folder, mode: nil, naming: absolute)
        try write.write(bytes.span)
        try write.commit()
    }

    /// Adds to the end of the file, or makes it with the folders above it.
    public func append(_ bytes: [UInt8]) throws(FileError) {
        let file: FileDescriptor
        if let bounds {
            let place = try self.place(bounds)
            file = try Self.appending(to: place.name, in: place.folder, naming: absolute)
        } else {
            try makeFolders()
            file = try FileDescriptor.open(
                absolute, O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | O_NOCTTY, mode: 0o600, for: "write")
        }
        try Files.requireRegular(try file.status(for: "write"), "write", absolute)
        try file.writeAll(bytes.span)
    }

    /// How large the file is.
    public func size() throws(FileError) -> Int {
        guard let bounds else { return Int(try Files.info(absolute).size) }
        let place = try open(try opened(bounds, "look at"), bounds.relative, to: .look, "look at")
        return Int(try place.status(for: "look at").size)
    }

    // MARK: Beneath a root

    private func makeFolders() throws(FileError) {
        try Files.makeDirectories(PathParts(absolute).directory, mode: 0o755)
    }

    /// The root, which has to be the folder that was permitted.
    private func opened(_ bounds: Bounds, _ operation: String) throws(FileError) -> Folder {
        let root = try FileDescriptor.open(
            bounds.root.canonical, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, for: operation)
        var status = stat()
        guard unsafe fstat(root.rawValue, &status) == 0 else { throw FileError(operation, absolute, errno: errno) }
        guard UInt64(status.st_dev) == bounds.root.device, UInt64(status.st_ino) == bounds.root.inode else {
            throw FileError(
                .denied, operation, absolute,
                because: "\(bounds.root.path) is another folder now than the one that \(bounds.holder) may use")
        }
        return Folder(root)
    }

    private func open(
        _ folder: Folder, _ path: String, to use: Folder.Use, _ operation: String
    ) throws(FileError) -> FileDescriptor {
        do throws(FolderError) {
            return try folder.open(Array(path.utf8), to: use, followingLinks: true, naming: absolute)
        } catch {
            throw failure(error, operation)
        }
    }

    private func failure(_ error: FolderError, _ operation: String) -> FileError {
        guard error.number == EXDEV else { return FileError(operation, absolute, errno: error.number) }
        return FileError(
            .denied, operation, absolute,
            because: "a link on its way leads out of \(bounds?.root.path ?? "its folder"), or is absolute")
    }

    /// What links have led to may be closed all the same.
    private func check(
        _ opened: borrowing FileDescriptor, _ bounds: Bounds, _ operation: String
    ) throws(FileError) {
        let location = String(decoding: Folder.location(of: opened), as: UTF8.self)
        let inside = String(decoding: location.utf8.dropFirst(bounds.root.canonical.utf8.count), as: UTF8.self)
        let isKept = bounds.isWriting && inside.split(separator: "/").contains(where: Self.isKept)
        guard isKept || bounds.closed.contains(where: { location == $0 || location.hasPrefix("\($0)/") }) else {
            return
        }
        throw Self.closed(absolute, location, bounds, operation)
    }

    private static func isKept(_ name: some StringProtocol) -> Bool { Grant.keptFolders.contains(String(name)) }

    private static func closed(
        _ path: String, _ place: String, _ bounds: Bounds, _ operation: String
    ) -> FileError {
        FileError(.denied, operation, path, because: "it leads to \(place), which \(bounds.holder) may not use")
    }

    /// The folder in which the file is, or is going to be, with the folders above it made; and its name there, which is
    /// no link.
    private func place(_ bounds: Bounds) throws(FileError) -> (folder: Folder, name: String) {
        let root = try opened(bounds, "write")
        var path = bounds.relative
        for _ in 0..<40 {
            let parts = PathParts("/\(path)")
            guard !parts.name.isEmpty, parts.name != ".." else { throw FileError("write", absolute, errno: EISDIR) }
            // A link may lead to what the path itself did not name.
            if Self.isKept(parts.name) { throw Self.closed(absolute, path, bounds, "write") }
            let above = String(parts.directory.dropFirst())
            let folder = Folder(try folder(above, in: root, bounds), resolver: root.resolver)
            do throws(FolderError) {
                guard let target = try folder.linkTarget(Array(parts.name.utf8)) else { return (folder, parts.name) }
                // What is written is the file that the link leads to, as long as that is inside.
                let text = String(decoding: target, as: UTF8.self)
                if text.startsAtRoot { throw FolderError(number: EXDEV) }
                path = above.isEmpty ? text : "\(above)/\(text)"
            } catch {
                if error.number == ENOENT { return (folder, parts.name) }
                throw failure(error, "write")
            }
        }
        throw FileError("write", absolute, errno: ELOOP)
    }

    /// A folder beneath the root, made with those above it where there is none.
    private func folder(_ path: String, in root: Folder, _ bounds: Bounds) throws(FileError) -> FileDescriptor {
        var made = ""
        for part in path.split(separator: "/") {
            let above = Folder(try open(root, made, to: .list, "write"), resolver: root.resolver)
            made += made.isEmpty ? String(part) : "/\(part)"
            try check(above.descriptor, bounds, "write")
            if Self.isKept(part) { throw Self.closed(absolute, path, bounds, "write") }
            if part == ".." { continue }
            guard unsafe mkdirat(above.descriptor.rawValue, String(part), 0o755) != 0, errno != EEXIST else { continue }
            throw FileError("make directory", absolute, errno: errno)
        }
        let folder = try open(root, path, to: .list, "write")
        try check(folder, bounds, "write")
        return folder
    }

    private static func appending(
        to name: String, in folder: Folder, naming shown: String
    ) throws(FileError) -> FileDescriptor {
        for _ in 0..<8 {
            do throws(FolderError) {
                let place = try folder.openEntry(Array(name.utf8), to: .look, naming: shown)
                try requireRegular(place)
                return try folder.openEntry(Array(name.utf8), to: .append, naming: shown)
            } catch {
                guard error.number == ENOENT else { throw FileError("write", shown, errno: error.number) }
            }
            do throws(FileError) {
                return try FileDescriptor.open(
                    name, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_NOFOLLOW, mode: 0o600,
                    in: folder.descriptor.rawValue, for: "write", naming: shown)
            } catch {
                // Somebody else has made it meanwhile.
                guard error.kind == .exists else { throw error }
            }
        }
        throw FileError("write", shown, errno: EAGAIN)
    }

    private static func requireRegular(_ place: borrowing FileDescriptor) throws(FolderError) {
        var status = stat()
        guard unsafe fstat(place.rawValue, &status) == 0 else { throw FolderError(number: errno) }
        switch FileInfo.Kind(mode: status.st_mode) {
        case .regular: return
        case .directory: throw FolderError(number: EISDIR)
        case .symbolicLink: throw FolderError(number: ELOOP)
        default: throw FolderError(number: ENXIO)
        }
    }
}

extension FolderRoot {
    /// The folder that is at a path now.
    public init(opening path: String) throws(FileError) {
        let canonical = try Files.canonical(path)
        var status = stat()
        guard unsafe lstat(canonical, &status) == 0 else { throw FileError("open", path, errno: errno) }
        guard FileInfo.Kind(mode: status.st_mode) == .directory else { throw FileError("open", path, errno: ENOTDIR) }
        self.init(path: path, canonical: canonical, device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
    }
}
