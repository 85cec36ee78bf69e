import CSandboxKit
import FileKit
import Glibc
import Synchronization

/// What a filter of system calls refuses beside what every command is refused.
struct FilterKinds: OptionSet, Hashable {
    let rawValue: UInt32

    /// The internet's sockets too.
    static let noNetwork = FilterKinds(rawValue: UInt32(SANDBOXKIT_NO_NETWORK))
    /// What leads to other processes and files, where only Landlock is in between.
    static let shared = FilterKinds(rawValue: UInt32(SANDBOXKIT_SHARED))
    /// Emptying files that may not be written.
    static let noTruncating = FilterKinds(rawValue: UInt32(SANDBOXKIT_NO_TRUNCATING))
}

/// Bytes that another program reads from a descriptor, and that are in no folder.
enum MemoryFile {
    static func holding(_ bytes: [UInt8]) throws(SandboxError) -> FileDescriptor {
        try owned(unsafe sandboxkit_memory(bytes, bytes.count), "its options")
    }

    /// Those that are built, once for all commands: that takes as long as to start a program.
    private static let built = Mutex<[FilterKinds: [UInt8]]>([:])

    /// The filter of system calls, as the kernel wants it.
    static func filter(_ kinds: FilterKinds) throws(SandboxError) -> [UInt8] {
        if let known = built.withLock({ $0[kinds] }) { return known }
        let name = "its filter of system calls"
        let file = try owned(sandboxkit_filter(kinds.rawValue), name)
        var bytes: [UInt8] = []
        do throws(FileError) {
            while case let more = try file.read(upTo: 1 << 16), !more.isEmpty { bytes += more }
        } catch {
            throw SandboxError(.unavailable, "the sandbox cannot be given \(name): \(error.message)")
        }
        guard !bytes.isEmpty else {
            throw SandboxError(.unavailable, "the sandbox cannot be given \(name): it is empty")
        }
        built.withLock { $0[kinds] = bytes }
        return bytes
    }

    // strerror is safe here: glibc keeps its text in thread-local storage.
    static func reason(_ number: Int32) -> String {
        unsafe strerror(number).map { unsafe String(cString: $0) } ?? "system error \(number)"
    }

    private static func owned(_ result: Int32, _ name: String) throws(SandboxError) -> FileDescriptor {
        guard result >= 0 else {
            throw SandboxError(.unavailable, "the sandbox cannot be given \(name): \(Self.reason(-result))")
        }
        return FileDescriptor(owning: result, path: name)
    }
}
