import CFileKit
import Glibc

/// Owns one open file descriptor, which is closed when the value goes away.
@safe
public struct FileDescriptor: ~Copyable, Sendable {
    /// The number, for system calls. Only this value closes it.
    public private(set) var rawValue: Int32
    /// The path given when it was opened, for error messages.
    public let path: String

    /// Takes over an open descriptor. `path` is only its name in errors.
    public init(owning rawValue: Int32, path: String) {
        self.rawValue = rawValue
        self.path = path
    }

    deinit {
        if rawValue >= 0 { _ = Glibc.close(rawValue) }
    }

    /// Closes now, and reports errors that some file systems deliver only on close.
    public consuming func close() throws(FileError) {
        let descriptor = rawValue
        rawValue = -1
        // Linux frees the descriptor even when close is interrupted, so a retry could close another file.
        guard Glibc.close(descriptor) == 0 || errno == EINTR else { throw FileError("close", path, errno: errno) }
    }

    /// Reads up to `count` bytes; an empty result is the end of the file.
    public borrowing func read(upTo count: Int) throws(FileError) -> [UInt8] {
        var failure: Int32 = 0
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            let got = retryingInterrupts { unsafe Glibc.read(rawValue, buffer.baseAddress, count) }
            failure = got < 0 ? errno : 0
            filled = max(got, 0)
        }
        guard failure == 0 else { throw FileError("read", path, errno: failure) }
        return bytes
    }

    /// Writes all of `bytes`, continuing after partial writes and interrupts.
    public borrowing func writeAll(_ bytes: Span<UInt8>) throws(FileError) {
        var written = 0
        while written < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { buffer in
                let rest = unsafe UnsafeRawBufferPointer(rebasing: buffer[written...])
                return retryingInterrupts { unsafe Glibc.write(rawValue, rest.baseAddress, rest.count) }
            }
            guard count >= 0 else { throw FileError("write", path, errno: errno) }
            written += count
        }
    }
}

extension FileDescriptor {
    /// Opens a file of the program for reading. What a caller names is opened by its `GrantedPath`.
    public static func reading(_ path: String) throws(FileError) -> FileDescriptor {
        try open(path, O_RDONLY | O_NOFOLLOW, for: "read")
    }

    /// Opens `path`, relative to the open directory when one is given; always close-on-exec.
    static func open(
        _ path: String, _ flags: Int32, mode: UInt32 = 0, in directory: Int32 = AT_FDCWD, for operation: String,
        naming shownPath: String? = nil
    ) throws(FileError) -> FileDescriptor {
        try FileError.refuseZero(path, operation)
        let descriptor = retryingInterrupts {
            unsafe Int(filekit_openat(directory, path, flags | O_CLOEXEC, mode))
        }
        guard descriptor >= 0 else { throw FileError(operation, shownPath ?? path, errno: errno) }
        return FileDescriptor(owning: Int32(descriptor), path: shownPath ?? path)
    }

    borrowing func status(for operation: String) throws(FileError) -> FileInfo {
        var status = stat()
        guard unsafe fstat(rawValue, &status) == 0 else { throw FileError(operation, path, errno: errno) }
        return FileInfo(status)
    }
}

/// Repeats a system call for as long as a signal interrupts it.
func retryingInterrupts(_ call: () -> Int) -> Int {
    while true {
        let result = call()
        if result >= 0 || errno != EINTR { return result }
    }
}
