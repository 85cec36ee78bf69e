public import Glibc
import LoopKit
import Synchronization

/// A real terminal whose other side the test holds.
public final class PseudoTerminal: Sendable {
    /// The test's side.
    public let master: Int32
    private let isHungUp = Atomic(false)
    /// The program's side.
    public let slave: Int32
    /// The name of the program's side.
    public let path: String

    /// A new terminal of a size.
    public init(columns: UInt16 = 80, rows: UInt16 = 24) throws {
        // Unlike with openpty, no program that another test starts at this moment keeps the terminal open.
        master = unsafe open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        var size = winsize(ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        var number: UInt32 = 0
        var lock: Int32 = 0
        // TIOCSPTLCK and TIOCGPTN, which Swift does not import.
        guard unsafe ioctl(master, 0x4004_5431, &lock) == 0, unsafe ioctl(master, 0x8004_5430, &number) == 0,
            unsafe ioctl(master, UInt(TIOCSWINSZ), &size) == 0
        else { throw TestTerminalError(message: "no pseudo-terminal: \(errno)") }
        path = "/dev/pts/\(number)"
        slave = unsafe open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard slave >= 0 else { throw TestTerminalError(message: "\(path) could not be opened: \(errno)") }
    }

    deinit {
        if !isHungUp.load(ordering: .relaxed) { close(master) }
        close(slave)
    }

    /// Closes the test's side permanently.
    public func hangUp() {
        if !isHungUp.exchange(true, ordering: .relaxed) { close(master) }
    }

    /// Gives it another size; the program gets a signal.
    public func resize(columns: Int, rows: Int) { unsafe system("stty -F \(path) cols \(columns) rows \(rows)") }

    /// The local, input and output flags, as one comparable value.
    public var flags: [tcflag_t] {
        var attributes = termios()
        guard unsafe tcgetattr(slave, &attributes) == 0 else { return [] }
        return [attributes.c_lflag, attributes.c_iflag, attributes.c_oflag]
    }

    /// Types a text.
    public func type(_ text: String) { writeAll(text, to: master) }

    /// The output up to and including `marker`, awaited on the calling thread; fails if it does not arrive in time.
    public func blockingOutput(upTo marker: String) throws(TestTerminalError) -> String {
        var bytes: [UInt8] = []
        while !bytes.suffix(marker.utf8.count).elementsEqual(marker.utf8) {
            var ready = pollfd(fd: master, events: Int16(POLLIN), revents: 0)
            var byte: UInt8 = 0
            guard unsafe poll(&ready, 1, 20_000) == 1, unsafe read(master, &byte, 1) == 1 else {
                let shown = String(decoding: bytes, as: UTF8.self)
                throw TestTerminalError(message: "\(marker) was not shown after \(shown.debugDescription)")
            }
            bytes.append(byte)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The same without blocking the test's thread.
    public func output(upTo marker: String) async throws -> String {
        try await onOwnThread {
            Result { () throws(TestTerminalError) in try self.blockingOutput(upTo: marker) }
        }.get()
    }

    /// The output so far.
    public func output() async throws -> String {
        let marker = "<end of output>"
        writeAll(marker, to: slave)
        return String(try await output(upTo: marker).dropLast(marker.count))
    }
}

/// Writes all of a text. What cannot be written is dropped, because the reader is gone.
func writeAll(_ text: String, to descriptor: Int32) {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
        let count = unsafe rest.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
        if count > 0 { rest.removeFirst(count) } else if errno != EINTR { return }
    }
}

/// What a terminal for tests did not do.
public struct TestTerminalError: Error {
    public let message: String

    /// An error with a message.
    public init(message: String) { self.message = message }
}
