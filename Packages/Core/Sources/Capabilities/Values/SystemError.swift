import Glibc

/// Why the system refused an operation: a value of `errno`, which describes itself in the system's words.
public struct SystemError: Sendable, Hashable, CustomStringConvertible {
    /// The value of `errno`; read it right after the call that failed.
    public let number: Int32

    /// The error with this number.
    public init(_ number: Int32) {
        self.number = number
    }

    /// "No such file or directory".
    public var description: String {
        // strerror is safe here: glibc keeps its text in thread-local storage.
        unsafe strerror(number).map { unsafe String(cString: $0) } ?? "system error \(number)"
    }
}
