import CFileKit
import Glibc

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
