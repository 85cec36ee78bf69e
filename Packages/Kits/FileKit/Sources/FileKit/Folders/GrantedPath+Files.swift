import CFileKit
public import Capabilities
import Glibc

extension GrantedPath {
    /// Reads a regular file of at most `limit` bytes.
    public func read(limit: Int) throws(FileError) -> [UInt8] {
        guard let bounds else { return try Files.read(absolute, limit: limit) }
        return try Files.read(try open(bounds), limit: limit)
    }

    /// Opens a regular file for reading in pieces.
    public func open() throws(FileError) -> FileDescriptor {
        guard let bounds else {
            let file = try FileDescriptor.open(absolute, O_RDONLY | O_NONBLOCK | O_NOCTTY, for: "read")
            try Files.requireRegular(try file.status(for: "read"), "read", absolute)
            return file
        }
        let file = try open(bounds)
        try Files.requireRegular(try file.status(for: "read"), "read", absolute)
        return file
    }

    /// Opens the file after checking that it is regular.
    private func open(_ bounds: Bounds) throws(FileError) -> FileDescriptor {
        let root = try opened(bounds, "read")
        if let file = openWithoutLinks(root, bounds) { return file }
        // It is looked at before it is opened, for opening alone can set off a device.
        let place = try open(root, bounds.rest, to: .look, "read")
        try require(Folder.location(of: place), bounds, "read")
        try Files.requireRegular(try place.status(for: "read"), "read", absolute)
        let file = try open(root, bounds.rest, to: .read, "read")
        try require(Folder.location(of: file), bounds, "read")
        return file
    }

    /// Replaces the file, or creates it and its parent folders.
    public func write(_ bytes: [UInt8]) throws(FileError) {
        guard bounds != nil else {
            try makeFolders()
            return try Files.writeAtomically(bytes, to: absolute)
        }
        let write = try replacement()
        try write.write(bytes.span)
        try write.commit()
    }

    /// Starts to replace the file, or to create it and its parent folders, for writing in pieces.
    public func replacement() throws(FileError) -> AtomicWrite {
        guard let bounds else {
            try makeFolders()
            return try AtomicWrite(replacing: absolute, mode: nil)
        }
        let (folder, name) = try place(bounds)
        return try AtomicWrite(name, in: try open(folder, [], to: .list, "write"), mode: nil, naming: absolute)
    }

    /// Appends to the file, or creates it and its parent folders.
    public func append(_ bytes: [UInt8]) throws(FileError) {
        let file: FileDescriptor
        if let bounds {
            let (folder, name) = try place(bounds)
            file = try Self.appending(to: name, in: folder, naming: absolute)
        } else {
            try makeFolders()
            file = try FileDescriptor.open(
                absolute, O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | O_NOCTTY, mode: 0o600, for: "write")
        }
        try Files.requireRegular(try file.status(for: "write"), "write", absolute)
        try file.writeAll(bytes.span)
    }

    /// The size of the file.
    public func size() throws(FileError) -> Int {
        guard let bounds else { return Int(try Files.info(absolute).size) }
        let place = try open(try opened(bounds, "access"), bounds.rest, to: .look, "access")
        try require(Folder.location(of: place), bounds, "access")
        return Int(try place.status(for: "access").size)
    }

    /// What it leads to. Nothing is opened for reading.
    public func kind() throws(FileError) -> FileInfo.Kind {
        guard let bounds else { return try Files.info(absolute).kind }
        let place = try open(try opened(bounds, "access"), bounds.rest, to: .look, "access")
        try require(Folder.location(of: place), bounds, "access")
        return try place.status(for: "access").kind
    }

    /// Opens the folder that it names.
    public func folder() throws(FileError) -> Folder {
        guard let bounds else {
            return Folder(try FileDescriptor.open(absolute, O_RDONLY | O_DIRECTORY, for: "open"))
        }
        let folder = Folder(try open(try opened(bounds, "open"), bounds.rest, to: .list, "open"))
        try require(folder.location, bounds, "open")
        return folder
    }

    /// Opens the file when its path has no links, which is the usual case. Then its location is its path, and needs no
    /// further system call. Nil when the path needs careful resolution.
    private func openWithoutLinks(_ root: Folder, _ bounds: Bounds) -> FileDescriptor? {
        guard root.resolver == .kernel, !bounds.rest.isEmpty else { return nil }
        // When the root is its own canonical path, the grant has already decided about this path.
        guard bounds.root.path == bounds.root.canonical || bounds.allows(bounds.place) else { return nil }
        // C would read the path only up to a NUL, which is another path.
        guard !bounds.rest.contains(0) else { return nil }
        let opened = unsafe filekit_open_regular(root.descriptor.rawValue, bounds.rest + [0])
        return opened >= 0 ? FileDescriptor(owning: opened, path: absolute) : nil
    }

    // MARK: Beneath a root

    private func makeFolders() throws(FileError) {
        try Files.makeDirectories(PathParts(absolute).folder, mode: 0o755)
    }

    /// Opens the root, which must be the permitted folder.
    private func opened(_ bounds: Bounds, _ operation: String) throws(FileError) -> Folder {
        var status = stat()
        if let folder = bounds.root.handle as? Folder {
            // A folder that was moved away is no longer permitted under its name.
            guard unsafe lstat(bounds.root.canonical, &status) == 0 else {
                throw FileError(operation, absolute, errno: errno)
            }
            try require(status, bounds, operation)
            return folder
        }
        let folder = try Folder(lookingAt: bounds.root.canonical, for: operation, naming: absolute)
        guard unsafe fstat(folder.descriptor.rawValue, &status) == 0 else {
            throw FileError(operation, absolute, errno: errno)
        }
        try require(status, bounds, operation)
        return folder
    }

    private func require(_ status: stat, _ bounds: Bounds, _ operation: String) throws(FileError) {
        guard UInt64(status.st_dev) == bounds.root.device, UInt64(status.st_ino) == bounds.root.inode else {
            throw FileError(
                .denied, operation, absolute,
                because: "\(bounds.root.path) was replaced by a folder that \(bounds.holder) may not use")
        }
    }

    private func open(
        _ folder: Folder, _ path: [UInt8], to use: Folder.Use, _ operation: String
    ) throws(FileError) -> FileDescriptor {
        do throws(FolderError) {
            return try folder.open(path, to: use, followingLinks: true, naming: absolute)
        } catch {
            throw failure(error, operation)
        }
    }

    private func failure(_ error: FolderError, _ operation: String) -> FileError {
        guard error.number == EXDEV else { return FileError(operation, absolute, errno: error.number) }
        return FileError(
            .denied, operation, absolute,
            because: "a link in the path leads out of \(bounds?.root.path ?? "its folder"), or is absolute")
    }

    /// The target of links must also be permitted. Without /proc the location is unknown.
    private func require(_ location: [UInt8], _ bounds: Bounds, _ operation: String) throws(FileError) {
        let place = AbsolutePath(bytes: location)
        if location.first == UInt8(ascii: "/"), bounds.allows(place) { return }
        throw FileError(
            .denied, operation, absolute, because: "it leads to \(place.text), which \(bounds.holder) may not use")
    }

    /// The folder of the file, created with its parents if missing; and the file's name there, which is not a link.
    private func place(_ bounds: Bounds) throws(FileError) -> (folder: Folder, name: String) {
        let root = try opened(bounds, "write")
        let slash = UInt8(ascii: "/")
        var names = bounds.rest.split(separator: slash).map(Array.init)
        for _ in 0..<40 {
            guard let name = names.last, !name.elementsEqual("..".utf8), !name.contains(0) else {
                throw FileError("write", absolute, errno: EISDIR)
            }
            let above = Array(names.dropLast())
            let folder = try folder(above, in: root, bounds)
            // A link may lead to a place that the path itself does not name.
            try require(folder.location + [slash] + name, bounds, "write")
            let target: [UInt8]?
            do throws(FolderError) { target = try folder.linkTarget(name) } catch {
                guard error.number == ENOENT else { throw failure(error, "write") }
                target = nil
            }
            guard let target else { return (folder, String(decoding: name, as: UTF8.self)) }
            // The target of the link is written, if it is inside.
            if target.first == slash { throw failure(FolderError(number: EXDEV), "write") }
            names = above + target.split(separator: slash).filter { !$0.elementsEqual(".".utf8) }.map(Array.init)
        }
        throw FileError("write", absolute, errno: ELOOP)
    }

    /// A folder beneath the root, created with its parents if missing.
    private func folder(_ names: [[UInt8]], in root: Folder, _ bounds: Bounds) throws(FileError) -> Folder {
        var above = Folder(try open(root, [], to: .look, "write"), resolver: root.resolver)
        for count in names.indices {
            let name = names[count]
            if !name.elementsEqual("..".utf8) {
                try require(above.location + [UInt8(ascii: "/")] + name, bounds, "create directory")
                let text = (name + [0]).map(CChar.init(bitPattern:))
                if unsafe mkdirat(above.descriptor.rawValue, text, 0o755) != 0, errno != EEXIST {
                    throw FileError("create directory", absolute, errno: errno)
                }
            }
            let path = Array(names[...count].joined(separator: [UInt8(ascii: "/")]))
            let next = try open(root, path, to: .look, "write")
            try require(Folder.location(of: next), bounds, "write")
            above = Folder(next, resolver: root.resolver)
        }
        return above
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
                // Another program has created it meanwhile.
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
    /// Opens the current folder at an absolute path.
    public init(opening path: String) throws(FileError) {
        let canonical = try Files.canonical(path)
        let folder = try Folder(lookingAt: canonical, for: "open", naming: path)
        var status = stat()
        guard unsafe fstat(folder.descriptor.rawValue, &status) == 0 else {
            throw FileError("open", path, errno: errno)
        }
        guard FileInfo.Kind(mode: status.st_mode) == .directory else { throw FileError("open", path, errno: ENOTDIR) }
        self.init(
            path: AbsolutePath(path).text, canonical: canonical, device: UInt64(status.st_dev),
            inode: UInt64(status.st_ino), git: Self.git(canonical),
            handle: folder)
    }

    private static func git(_ folder: String) -> Git {
        func holds(_ name: String) -> Bool { Files.exists("\(folder)/\(name)") }
        if holds(".git") { return .workTree }
        return ["HEAD", "objects", "refs"].allSatisfy(holds) ? .repository : .other
    }
}
