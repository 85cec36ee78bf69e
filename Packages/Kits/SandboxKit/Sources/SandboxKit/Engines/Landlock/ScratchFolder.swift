import CSandboxKit
import Capabilities
import FileKit
import Glibc

/// A folder that a command has for itself while it runs, in the place of a home and of `/tmp`.
///
/// It is locked for as long as this value is there, so that one that a killed process has left behind is told from others.
final class ScratchFolder: Sendable {
    private static let above = "/tmp"
    private static let prefix = "martlet-command-"

    let path: String
    private let descriptor: FileDescriptor

    init() throws(SandboxError) {
        var template = Array("\(Self.above)/\(Self.prefix)XXXXXX".utf8CString)
        // For its owner alone, and nobody can foresee its name.
        guard unsafe mkdtemp(&template) != nil else {
            throw SandboxError.notMade("a folder in \(Self.above): \(MemoryFile.reason(errno))")
        }
        path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        let opened = Self.open(path)
        guard opened >= 0 else {
            let reason = MemoryFile.reason(errno)
            unsafe rmdir(path)
            throw SandboxError.notMade("\(path): \(reason)")
        }
        descriptor = FileDescriptor(owning: opened, path: path)
        _ = flock(opened, LOCK_EX | LOCK_NB)
    }

    /// What a command has made so that it cannot be removed stays.
    deinit {
        _ = sandboxkit_remove_contents(descriptor.rawValue)
        unsafe rmdir(path)
    }

    /// Removes those of processes that were killed.
    static func removeLeftovers() {
        // Without a list nothing is known of any.
        guard let entries = try? Files.list(above) else { return }
        for entry in entries where entry.kind == .directory && entry.name.hasPrefix(prefix) {
            let path = "\(above)/\(entry.name)"
            let opened = open(path)
            guard opened >= 0 else { continue }
            let folder = FileDescriptor(owning: opened, path: path)
            var status = stat()
            guard unsafe fstat(folder.rawValue, &status) == 0, status.st_uid == geteuid(),
                flock(folder.rawValue, LOCK_EX | LOCK_NB) == 0
            else { continue }
            _ = sandboxkit_remove_contents(folder.rawValue)
            unsafe rmdir(path)
        }
    }

    private static func open(_ path: String) -> Int32 {
        unsafe Glibc.open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    }
}
