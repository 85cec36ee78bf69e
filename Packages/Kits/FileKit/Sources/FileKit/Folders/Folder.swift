import CFileKit
public import Capabilities
import Glibc

/// An open folder. Everything else is opened beneath it.
///
/// The kernel resolves each path from this descriptor (`openat2`). "RESOLVE_BENEATH: Do not permit the path resolution to
/// succeed if any component of the resolution is not a descendant of the directory indicated by dirfd." That holds also
/// while somebody renames folders or replaces them by links, which no check of a path's text could promise.
///
/// Paths are bytes, because not every name is UTF-8. An empty path is the folder itself.
public final class Folder: Sendable {
    /// The resolver of paths.
    public enum Resolver: Sendable {
        /// The kernel resolves a whole path at once, so that nothing can change meanwhile.
        case kernel
        /// For kernels before 5.6, and containers that forbid the call.
        case steps
    }

    /// The use of a descriptor.
    public enum Use: Sendable {
        /// To inspect an entry. Nothing is opened, so no device reacts.
        case look
        /// To read a file. A FIFO or a terminal does not block.
        case read
        /// To list a folder.
        case list
        /// To append to a file.
        case append

        var flags: filekit_use {
            switch self {
            case .look: FILEKIT_LOOK
            case .read: FILEKIT_READ
            case .list: FILEKIT_LIST
            case .append: FILEKIT_APPEND
            }
        }
    }

    /// The descriptor of the folder. It is closed with this object and must not be closed elsewhere.
    public let descriptor: FileDescriptor
    /// How paths beneath it are resolved.
    public let resolver: Resolver

    /// - Parameter resolver: nil uses the kernel if it can.
    public init(_ descriptor: consuming FileDescriptor, resolver: Resolver? = nil) {
        self.resolver = resolver ?? Self.resolver(for: descriptor.rawValue)
        self.descriptor = descriptor
    }

    /// ENOSYS before Linux 5.6; EPERM from filters that block newer calls. A path that exists in every open folder
    /// distinguishes these from the folder's own permissions.
    private static func resolver(for folder: Int32) -> Resolver {
        let probe = unsafe filekit_open_beneath(folder, [UInt8(ascii: "."), 0], FILEKIT_LOOK, true)
        guard probe >= 0 else { return .steps }
        close(probe)
        return .kernel
    }

    /// Opens the path if it is inside the folder. Links are followed only while they stay inside, or not at all.
    ///
    /// - Parameter shown: the name of the path in errors.
    public func open(
        _ path: [UInt8], to use: Use, followingLinks: Bool, naming shown: String
    ) throws(FolderError) -> FileDescriptor {
        // C would read the path only up to a NUL, which is another path.
        guard !path.contains(0) else { throw FolderError(number: EINVAL) }
        let opened =
            switch resolver {
            case .kernel: openInKernel(path, use.flags, followingLinks)
            case .steps: openInSteps(path, use.flags, followingLinks)
            }
        guard opened >= 0 else { throw FolderError(number: -opened) }
        return FileDescriptor(owning: opened, path: shown)
    }

    /// Opens an entry by its name, without following a link.
    public func openEntry(
        _ name: [UInt8], to use: Use, naming shown: String
    ) throws(FolderError) -> FileDescriptor {
        guard !name.contains(0) else { throw FolderError(number: EINVAL) }
        let opened = unsafe filekit_open_entry(descriptor.rawValue, name + [0], use.flags)
        guard opened >= 0 else { throw FolderError(number: -opened) }
        return FileDescriptor(owning: opened, path: shown)
    }

    /// The target of a link, as stored. Nil when it is not a link. An empty name is this descriptor itself.
    public func linkTarget(_ name: [UInt8]) throws(FolderError) -> [UInt8]? {
        try Self.linkTarget(name, in: descriptor.rawValue)
    }

    /// The current location of the folder.
    public var location: [UInt8] { Self.location(of: descriptor) }

    /// The current location of an open descriptor.
    public static func location(of descriptor: borrowing FileDescriptor) -> [UInt8] {
        // This fails only without /proc, and then the location is unknown.
        do throws(FolderError) {
            return try linkTarget(Array("/proc/self/fd/\(descriptor.rawValue)".utf8), in: AT_FDCWD) ?? []
        } catch {
            return []
        }
    }

    static func linkTarget(_ name: [UInt8], in folder: Int32) throws(FolderError) -> [UInt8]? {
        var target = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let length = unsafe filekit_read_link(folder, name + [0], &target, target.count)
        if length == -Int(EINVAL) { return nil }
        guard length >= 0 else { throw FolderError(number: Int32(-length)) }
        return Array(target.prefix(length))
    }

    /// "EAGAIN: how.resolve contains either RESOLVE_IN_ROOT or RESOLVE_BENEATH, and the kernel could not ensure that a
    /// ".." component didn't escape (due to a race condition or potential attack). The caller may choose to retry."
    private func openInKernel(_ path: [UInt8], _ use: filekit_use, _ followingLinks: Bool) -> Int32 {
        let name = path.isEmpty ? [UInt8(ascii: "."), 0] : path + [0]
        var opened = -EAGAIN
        for _ in 0..<64 where opened == -EAGAIN {
            opened = unsafe filekit_open_beneath(descriptor.rawValue, name, use, followingLinks)
        }
        return opened
    }
}

extension Folder: FolderHandle {
    /// Opens the folder at a canonical path without following links. This needs no permission to list the folder.
    convenience init(
        lookingAt canonical: String, for operation: String, naming shown: String
    ) throws(FileError) {
        let top = Folder(try FileDescriptor.open("/", O_RDONLY | O_DIRECTORY, for: operation))
        let path = Array(canonical.utf8.drop { $0 == UInt8(ascii: "/") })
        let opened: FileDescriptor
        do throws(FolderError) {
            opened = try top.open(path, to: .look, followingLinks: false, naming: shown)
        } catch {
            throw FileError(operation, shown, errno: error.number)
        }
        self.init(opened, resolver: top.resolver)
    }
}

/// Why an entry beneath a folder could not be opened: the system's error number. EXDEV means that the path leads out.
public struct FolderError: Error, Hashable {
    /// The positive error number, such as ENOENT.
    public let number: Int32
}

extension Folder {
    /// Resolves a path without openat2: links are read but not followed, and `..` drops a name that was found to be a
    /// folder. Every part is opened with O_NOFOLLOW from this folder on, so that a part that is replaced by a link
    /// meanwhile is an error, not a way out.
    private func openInSteps(_ path: [UInt8], _ use: filekit_use, _ followingLinks: Bool) -> Int32 {
        let (slash, dot) = (UInt8(ascii: "/"), UInt8(ascii: "."))
        if path.first == slash { return -EXDEV }
        var found: [ArraySlice<UInt8>] = []
        var waiting = Array(Self.parts(path).reversed())
        var needsFolder = path.last == slash
        var links = 0
        do throws(FolderError) {
            while let part = waiting.popLast() {
                let parent = try chain(found)
                if part.elementsEqual([dot, dot]) {
                    guard found.popLast() != nil else { return -EXDEV }
                } else if let target = try link(part, in: parent) {
                    links += 1
                    let isLast = waiting.isEmpty && !needsFolder
                    if !followingLinks {
                        guard isLast, use == FILEKIT_LOOK else { return -ELOOP }
                        return unsafe filekit_open_entry(parent.rawValue, Array(part) + [0], use)
                    }
                    guard links <= 40 else { return -ELOOP }
                    guard target.first != slash else { return -EXDEV }
                    if waiting.isEmpty, target.last == slash { needsFolder = true }
                    waiting += Self.parts(target).reversed()
                } else {
                    found.append(part)
                }
            }
            if needsFolder { _ = try chain(found) }
            guard let last = found.popLast() else {
                return unsafe filekit_open_entry(descriptor.rawValue, [UInt8(ascii: "."), 0], use)
            }
            let parent = try chain(found)
            return try open(last, in: parent, use)
        } catch {
            return -error.number
        }
    }

    /// The parts between the slashes, without empty ones and `.`.
    private static func parts(_ path: [UInt8]) -> [ArraySlice<UInt8>] {
        path.split(separator: UInt8(ascii: "/")).filter { !$0.elementsEqual([UInt8(ascii: ".")]) }
    }

    /// The folder that the names lead to.
    private func chain(_ names: [ArraySlice<UInt8>]) throws(FolderError) -> FileDescriptor {
        let start = unsafe filekit_open_entry(descriptor.rawValue, [UInt8(ascii: "."), 0], FILEKIT_LOOK)
        guard start >= 0 else { throw FolderError(number: -start) }
        var folder = FileDescriptor(owning: start, path: "")
        for name in names {
            let next = unsafe filekit_open_entry(folder.rawValue, Array(name) + [0], FILEKIT_LOOK)
            guard next >= 0 else { throw FolderError(number: -next) }
            folder = FileDescriptor(owning: next, path: "")
            var status = stat()
            guard unsafe fstat(next, &status) == 0 else { throw FolderError(number: errno) }
            guard status.st_mode & S_IFMT == S_IFDIR else { throw FolderError(number: ENOTDIR) }
        }
        return folder
    }

    private func link(
        _ name: ArraySlice<UInt8>, in parent: borrowing FileDescriptor
    ) throws(FolderError) -> [UInt8]? {
        try Self.linkTarget(Array(name), in: parent.rawValue)
    }

    private func open(
        _ name: ArraySlice<UInt8>, in parent: borrowing FileDescriptor, _ use: filekit_use
    ) throws(FolderError) -> Int32 {
        let opened = unsafe filekit_open_entry(parent.rawValue, Array(name) + [0], use)
        guard opened >= 0 else { throw FolderError(number: -opened) }
        // O_PATH with O_NOFOLLOW would open a link itself if the entry was replaced by one.
        var status = stat()
        guard unsafe fstat(opened, &status) == 0, status.st_mode & S_IFMT != S_IFLNK else {
            close(opened)
            throw FolderError(number: ELOOP)
        }
        return opened
    }
}
