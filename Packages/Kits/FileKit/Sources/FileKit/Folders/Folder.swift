import CFileKit
import Glibc

/// An open folder, beneath which everything else is opened.
///
/// The kernel resolves each path from this descriptor (`openat2`). "RESOLVE_BENEATH: Do not permit the path resolution to
/// succeed if any component of the resolution is not a descendant of the directory indicated by dirfd." That holds also
/// while somebody renames folders or replaces them by links, which no check of a path's text could promise.
///
/// Paths are the bytes that the file system has, since not every name is UTF-8; an empty one is the folder itself.
public final class Folder: Sendable {
    /// Who walks along the parts of a path.
    public enum Resolver: Sendable {
        case kernel
        /// For kernels before 5.6, and containers that forbid the call.
        case steps
    }

    /// What a descriptor is wanted for.
    public enum Use: Sendable {
        /// To ask what is there; nothing is opened, so that no device notices.
        case look
        /// To read a file; a FIFO or a terminal makes nobody wait.
        case read
        case list
        /// To add to the end of a file.
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

    public let descriptor: FileDescriptor
    public let resolver: Resolver

    /// - Parameter resolver: nil for the kernel wherever it can.
    public init(_ descriptor: consuming FileDescriptor, resolver: Resolver? = nil) {
        self.resolver = resolver ?? Self.resolver(for: descriptor.rawValue)
        self.descriptor = descriptor
    }

    /// ENOSYS before Linux 5.6; EPERM from filters that know no newer call. Both are told apart from the folder's own
    /// permissions by a path that any open folder has.
    private static func resolver(for folder: Int32) -> Resolver {
        let probe = unsafe filekit_open_beneath(folder, [UInt8(ascii: "."), 0], FILEKIT_LOOK, true)
        guard probe >= 0 else { return .steps }
        close(probe)
        return .kernel
    }

    /// Opens what is at the path, if that is inside. Links are followed while they stay inside, or not at all.
    ///
    /// - Parameter shown: how the path is named in errors of the descriptor.
    public func open(
        _ path: [UInt8], to use: Use, followingLinks: Bool, naming shown: String
    ) throws(FolderError) -> FileDescriptor {
        // C would take a NUL for the end, and so for another path.
        guard !path.contains(0) else { throw FolderError(number: EINVAL) }
        let opened =
            switch resolver {
            case .kernel: openInKernel(path, use.flags, followingLinks)
            case .steps: openInSteps(path, use.flags, followingLinks)
            }
        guard opened >= 0 else { throw FolderError(number: -opened) }
        return FileDescriptor(owning: opened, path: shown)
    }

    /// Opens an entry by its name, and never what a link there leads to.
    public func openEntry(
        _ name: [UInt8], to use: Use, naming shown: String
    ) throws(FolderError) -> FileDescriptor {
        guard !name.contains(0) else { throw FolderError(number: EINVAL) }
        let opened = unsafe filekit_open_entry(descriptor.rawValue, name + [0], use.flags)
        guard opened >= 0 else { throw FolderError(number: -opened) }
        return FileDescriptor(owning: opened, path: shown)
    }

    /// Where a link leads to, as it is written there; nil for what is no link. An empty name is this descriptor itself.
    public func linkTarget(_ name: [UInt8]) throws(FolderError) -> [UInt8]? {
        try Self.linkTarget(name, in: descriptor.rawValue)
    }

    /// Where the folder is now.
    public var location: [UInt8] { Self.location(of: descriptor) }

    /// Where something that is open is now.
    public static func location(of descriptor: borrowing FileDescriptor) -> [UInt8] {
        // Only what is no folder of a process fails here, and then nothing is known of it.
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

/// Why something beneath a folder could not be opened: the system's error number. EXDEV stands for a path that leads out.
public struct FolderError: Error, Hashable {
    public let number: Int32
}

extension Folder {
    /// Resolves a path without the kernel's help: links are read and not followed, and `..` drops a name from those
    /// that were found to be folders. Every part is opened with O_NOFOLLOW from this folder on, so that a part which
    /// somebody turns into a link meanwhile is an error and no way out.
    func openInSteps(_ path: [UInt8], _ use: filekit_use, _ followingLinks: Bool) -> Int32 {
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

    /// The parts between the slashes, without the empty ones and the `.`
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
        // O_PATH with O_NOFOLLOW opens a link itself, which is not what was found here a moment ago.
        var status = stat()
        guard unsafe fstat(opened, &status) == 0, status.st_mode & S_IFMT != S_IFLNK else {
            close(opened)
            throw FolderError(number: ELOOP)
        }
        return opened
    }
}
