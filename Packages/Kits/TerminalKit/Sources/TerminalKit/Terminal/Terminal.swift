import CTerminalKit
import Glibc

/// What a descriptor is connected to. It is asked each time, because a window can change its size.
public struct Terminal: Sendable, Hashable {
    /// The descriptor, which still belongs to the caller.
    public let fileDescriptor: Int32

    /// A view of `fileDescriptor`.
    public init(fileDescriptor: Int32) {
        self.fileDescriptor = fileDescriptor
    }

    /// The sequence that clears the window and moves to its top; the scrollback stays.
    public static let emptyWindow = "\u{1B}[H\u{1B}[2J"

    /// Whether the descriptor is a terminal.
    public var isTerminal: Bool { isatty(fileDescriptor) == 1 }

    /// Identifies this terminal among all terminals of this machine, including a later one with the same name; nil if
    /// it is not a terminal.
    public var identity: String? {
        var status = stat()
        guard isTerminal, unsafe fstat(fileDescriptor, &status) == 0 else { return nil }
        return "\(status.st_rdev)-\(status.st_ino)-\(status.st_ctim.tv_sec)-\(status.st_ctim.tv_nsec)"
    }

    /// The size from the kernel, else `COLUMNS` and `LINES` of `environment`, else 80 by 24.
    public func size(environment: [String: String] = [:]) -> TerminalSize {
        var columns: Int32 = 0
        var rows: Int32 = 0
        if unsafe martlet_terminal_size(fileDescriptor, &columns, &rows) {
            return TerminalSize(columns: Int(columns), rows: Int(rows))
        }
        return TerminalSize(
            columns: Self.positive(environment["COLUMNS"]) ?? 80, rows: Self.positive(environment["LINES"]) ?? 24)
    }

    private static func positive(_ text: String?) -> Int? {
        guard let text, let number = Int(text), (1...10_000).contains(number) else { return nil }
        return number
    }
}

extension Terminal {
    /// Whether the user can be asked: `/dev/tty` opens, wherever the standard streams go.
    public static var hasControllingTerminal: Bool {
        let descriptor = unsafe open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard descriptor >= 0 else { return false }
        close(descriptor)
        return true
    }
}

extension Terminal {
    /// Opens the terminal at `path` for reading and writing without waiting. It is a file of its own, because O_NONBLOCK
    /// on standard input would also change the shell's descriptor.
    ///
    /// Throws `inBackground` if it belongs to another job; the message says that the process cannot do `purpose`.
    ///
    /// - Parameter noTerminal: makes the error for a path where there is no terminal, from the errno.
    static func openDevice(
        _ path: String, to purpose: String, noTerminal: (Int32) -> TerminalError
    ) throws(TerminalError) -> Int32 {
        let descriptor = unsafe open(path, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
        guard descriptor >= 0, isatty(descriptor) == 1 else {
            let error = errno
            if descriptor >= 0 { close(descriptor) }
            throw noTerminal(error)
        }
        guard martlet_terminal_is_ours(descriptor) else {
            close(descriptor)
            throw TerminalError(
                .inBackground, "cannot \(purpose) in the background; bring the program to the foreground with fg")
        }
        return descriptor
    }
}

extension Terminal {
    /// Writes all of `text`. Text that cannot be written is dropped, because the reader is gone.
    public func write(_ text: String) {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(fileDescriptor, $0.baseAddress, $0.count) }
            if count > 0 {
                bytes.removeFirst(count)
            } else if errno == EAGAIN {
                var ready = pollfd(fd: fileDescriptor, events: Int16(POLLOUT), revents: 0)
                unsafe poll(&ready, 1, -1)
            } else if errno != EINTR {
                return
            }
        }
    }
}

/// The columns and rows of a terminal.
public struct TerminalSize: Sendable, Hashable {
    /// The number of columns.
    public var columns: Int
    /// The number of rows.
    public var rows: Int

    /// A size of `columns` by `rows`.
    public init(columns: Int, rows: Int) {
        self.columns = columns
        self.rows = rows
    }
}
