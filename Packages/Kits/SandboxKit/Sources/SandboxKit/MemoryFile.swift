import CSandboxKit
import FileKit
import Glibc
import Synchronization

/// Bytes that another program reads from a descriptor, and that are in no folder.
enum MemoryFile {
    static func holding(_ bytes: [UInt8]) throws(SandboxError) -> FileDescriptor {
        try owned(unsafe sandboxkit_memory(bytes, bytes.count), "its options")
    }

    /// The filter of system calls, as the kernel wants it.
    ///
    /// Each command gets its own file, since whoever reads one moves its offset for all who have it.
    static func withFilter() throws(SandboxError) -> FileDescriptor { try holding(filter()) }

    /// Nil until it is built, once for all commands: it is the same for each, and takes as long as to start a program.
    private static let built = Mutex<[UInt8]?>(nil)

    private static func filter() throws(SandboxError) -> [UInt8] {
        if let known = built.withLock(\.self) { return known }
        let name = "its filter of system calls"
        let file = try owned(sandboxkit_filter(), name)
        var bytes: [UInt8] = []
        do throws(FileError) {
            while case let more = try file.read(upTo: 1 << 16), !more.isEmpty { bytes += more }
        } catch {
            throw SandboxError(.unavailable, "the sandbox cannot be given \(name): \(error.message)")
        }
        guard !bytes.isEmpty else {
            throw SandboxError(.unavailable, "the sandbox cannot be given \(name): it is empty")
        }
        built.withLock { $0 = bytes }
        return bytes
    }

    // strerror is safe here: glibc keeps its text in thread-local storage.
    private static func reason(_ number: Int32) -> String {
        unsafe strerror(number).map { unsafe String(cString: $0) } ?? "system error \(number)"
    }

    private static func owned(_ result: Int32, _ name: String) throws(SandboxError) -> FileDescriptor {
        guard result >= 0 else {
            throw SandboxError(.unavailable, "the sandbox cannot be given \(name): \(Self.reason(-result))")
        }
        return FileDescriptor(owning: result, path: name)
    }
}
