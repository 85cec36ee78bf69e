import CSandboxKit
import Capabilities
import FileKit
import Synchronization

/// What a system call filter refuses in addition to what it always refuses.
struct FilterKinds: OptionSet, Hashable {
    let rawValue: UInt32

    /// Internet sockets.
    static let noNetwork = FilterKinds(rawValue: UInt32(SANDBOXKIT_NO_NETWORK))
    /// Access to other processes and files, if only Landlock separates them.
    static let shared = FilterKinds(rawValue: UInt32(SANDBOXKIT_SHARED))
    /// Truncating files that may not be written.
    static let noTruncating = FilterKinds(rawValue: UInt32(SANDBOXKIT_NO_TRUNCATING))
}

/// Bytes that another program reads from a descriptor, without a file in a folder.
enum MemoryFile {
    static func holding(_ bytes: [UInt8]) throws(SandboxError) -> FileDescriptor {
        try owned(unsafe sandboxkit_memory(bytes, bytes.count), "its options")
    }

    /// The filters built so far, shared by all commands, because building one takes as long as starting a program.
    private static let built = Mutex<[FilterKinds: [UInt8]]>([:])

    /// The system call filter in the kernel's format.
    static func filter(_ kinds: FilterKinds) throws(SandboxError) -> [UInt8] {
        if let known = built.withLock({ $0[kinds] }) { return known }
        let name = "its system call filter"
        let file = try owned(sandboxkit_filter(kinds.rawValue), name)
        var bytes: [UInt8] = []
        do throws(FileError) {
            while case let more = try file.read(upTo: 1 << 16), !more.isEmpty { bytes += more }
        } catch {
            throw SandboxError(.unavailable, "cannot prepare the sandbox: \(name): \(error.message)")
        }
        guard !bytes.isEmpty else {
            throw SandboxError(.unavailable, "cannot prepare the sandbox: \(name): it is empty")
        }
        built.withLock { $0[kinds] = bytes }
        return bytes
    }

    private static func owned(_ result: Int32, _ name: String) throws(SandboxError) -> FileDescriptor {
        guard result >= 0 else {
            throw SandboxError(.unavailable, "cannot prepare the sandbox: \(name): \(SystemError(-result))")
        }
        return FileDescriptor(owning: result, path: name)
    }
}
