import CSandboxKit
import FileKit
import Glibc

/// Bytes that another program reads from a descriptor, and that are in no folder.
enum MemoryFile {
    static func holding(_ bytes: [UInt8]) throws(SandboxError) -> FileDescriptor {
        try owned(unsafe sandboxkit_memory(bytes, bytes.count), "its options")
    }

    /// The filter of system calls, as the kernel wants it.
    static func withFilter() throws(SandboxError) -> FileDescriptor {
        try owned(sandboxkit_filter(), "its filter of system calls")
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
