import CToolKit
import FileKit
import Glibc

extension Folder {
    /// Resolves a path without the kernel's help: links are read and not followed, and `..` drops a name from those
    /// that were found to be folders. Every part is opened with O_NOFOLLOW from this folder on, so that a part which
    /// somebody turns into a link meanwhile is an error and no way out.
    func openInSteps(_ path: EntryPath, _ purpose: toolkit_purpose, _ followingLinks: Bool) -> Int32 {
        if path.isAbsolute { return -EXDEV }
        var found: [ArraySlice<UInt8>] = []
        var waiting = Array(path.parts.reversed())
        var needsFolder = path.bytes.last == Byte.slash
        var links = 0
        do throws(StepError) {
            while let part = waiting.popLast() {
                let parent = try chain(found)
                if part.elementsEqual([Byte.dot, Byte.dot]) {
                    guard found.popLast() != nil else { return -EXDEV }
                } else if let target = try link(part, in: parent) {
                    links += 1
                    let isLast = waiting.isEmpty && !needsFolder
                    if !followingLinks {
                        guard isLast, purpose == TOOLKIT_LOOK else { return -ELOOP }
                        return unsafe toolkit_open_entry(parent.rawValue, Array(part) + [0], purpose)
                    }
                    guard links <= 40 else { return -ELOOP }
                    guard !target.isAbsolute else { return -EXDEV }
                    if waiting.isEmpty, target.bytes.last == Byte.slash { needsFolder = true }
                    waiting += target.parts.reversed()
                } else {
                    found.append(part)
                }
            }
            if needsFolder { _ = try chain(found) }
            guard let last = found.popLast() else {
                return unsafe toolkit_open_entry(descriptor.rawValue, [Byte.dot, 0], purpose)
            }
            let parent = try chain(found)
            return try open(last, in: parent, purpose)
        } catch {
            return -error.number
        }
    }

    private struct StepError: Error {
        let number: Int32
    }

    /// The folder that the names lead to.
    private func chain(_ names: [ArraySlice<UInt8>]) throws(StepError) -> FileDescriptor {
        let start = unsafe toolkit_open_entry(descriptor.rawValue, [Byte.dot, 0], TOOLKIT_LOOK)
        guard start >= 0 else { throw StepError(number: -start) }
        var folder = FileDescriptor(owning: start, path: "")
        for name in names {
            let next = unsafe toolkit_open_entry(folder.rawValue, Array(name) + [0], TOOLKIT_LOOK)
            guard next >= 0 else { throw StepError(number: -next) }
            folder = FileDescriptor(owning: next, path: "")
            var status = stat()
            guard unsafe fstat(next, &status) == 0 else { throw StepError(number: errno) }
            guard status.st_mode & S_IFMT == S_IFDIR else { throw StepError(number: ENOTDIR) }
        }
        return folder
    }

    private func link(
        _ name: ArraySlice<UInt8>, in parent: borrowing FileDescriptor
    ) throws(StepError) -> EntryPath? {
        var target = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let length = unsafe toolkit_read_link(parent.rawValue, Array(name) + [0], &target, target.count)
        if length == -Int(EINVAL) { return nil }
        guard length >= 0 else { throw StepError(number: Int32(-length)) }
        return EntryPath(bytes: Array(target.prefix(length)))
    }

    private func open(
        _ name: ArraySlice<UInt8>, in parent: borrowing FileDescriptor, _ purpose: toolkit_purpose
    ) throws(StepError) -> Int32 {
        let opened = unsafe toolkit_open_entry(parent.rawValue, Array(name) + [0], purpose)
        guard opened >= 0 else { throw StepError(number: -opened) }
        // O_PATH with O_NOFOLLOW opens a link itself, which is not what was found here a moment ago.
        var status = stat()
        guard unsafe fstat(opened, &status) == 0, status.st_mode & S_IFMT != S_IFLNK else {
            close(opened)
            throw StepError(number: ELOOP)
        }
        return opened
    }
}
