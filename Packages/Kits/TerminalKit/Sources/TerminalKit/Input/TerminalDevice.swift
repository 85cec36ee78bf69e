import CTerminalKit
import Glibc
import LoopKit
import Synchronization

/// A terminal opened for one question, without echo. It is restored at deinitialisation.
@safe struct TerminalDevice: ~Copyable {
    /// The kind of input.
    enum Mode: Sendable {
        /// A line. Text typed ahead counts.
        case line
        /// A secret line. Text typed ahead does not count.
        case secret
        /// Single keys: CR and LF differ, pastes are marked, and changes of the size are reported.
        case keys
        /// Nothing yet: typing is not shown, and waits for the next reader.
        case silent
        /// Lines edited by the terminal itself. Its modes are not changed.
        case untouched
    }

    /// The result of a read.
    enum Input: Equatable {
        case byte(UInt8)
        /// The terminal is gone, or the input was ended.
        case end
        /// The size of the window has changed.
        case resized
        /// The process was stopped and continues. Others may have written to the terminal in the meantime.
        case continued
        /// Nothing was typed within the time limit.
        case quiet
    }

    /// Input that was read by a reader of something else. The process may read from only one terminal.
    private static let kept = Mutex<ArraySlice<UInt8>>([])

    private let descriptor: Int32
    private let wake: WakePipe
    private let mode: Mode
    /// How many bytes were typed before the terminal distinguished Return from Ctrl-J.
    let typedAhead: Int

    init(path: String, wake: WakePipe, mode: Mode) throws(TerminalError) {
        let descriptor = try Terminal.openDevice(path, to: "ask") { error in
            TerminalError(
                .notATerminal, "there is no terminal to ask on; pass the value as an option, a file or a variable",
                errno: error)
        }
        let error = Self.enter(descriptor, wake, mode)
        guard error == 0 else {
            close(descriptor)
            throw error == EBUSY
                ? TerminalError(.busy, "another question is open on the terminal; answer that one first")
                : TerminalError(.system, "cannot turn off the echo of the terminal", errno: error)
        }
        self.descriptor = descriptor
        self.wake = wake
        self.mode = mode
        if mode == .secret { Self.kept.withLock { $0 = [] } }
        typedAhead = mode == .keys ? Self.kept.withLock { $0.count } + Int(martlet_terminal_pending(descriptor)) : 0
    }

    deinit {
        if mode != .untouched { martlet_terminal_leave() }
        close(descriptor)
    }

    private static func enter(_ descriptor: Int32, _ wake: WakePipe, _ mode: Mode) -> Int32 {
        switch mode {
        case .line: martlet_terminal_enter(descriptor, wake.writeEnd, Int32(martlet_input_line))
        case .secret: martlet_terminal_enter(descriptor, wake.writeEnd, Int32(martlet_input_secret))
        case .keys: martlet_terminal_enter(descriptor, wake.writeEnd, Int32(martlet_input_keys))
        case .silent: martlet_terminal_enter(descriptor, wake.writeEnd, Int32(martlet_input_silent))
        case .untouched: 0
        }
    }

    var columns: Int { size.columns }
    var size: TerminalSize { Terminal(fileDescriptor: descriptor).size() }

    /// Whether more input is already there.
    var hasInput: Bool {
        if Self.kept.withLock({ !$0.isEmpty }) { return true }
        var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&ready, 1, 0) > 0
    }

    /// The next input; `quiet` after `limit` milliseconds without any.
    borrowing func read(limit: Int32 = -1) throws(TerminalError) -> Input {
        if let byte = Self.kept.withLock({ $0.popFirst() }) { return .byte(byte) }
        return try readNew(limit: limit)
    }

    /// The same without the kept input.
    borrowing func readNew(limit: Int32) throws(TerminalError) -> Input {
        while true {
            switch try wait(for: Int16(POLLIN), limit: limit) {
            case .ready: break
            case .resized: if mode == .keys { return .resized }
            case .continued: return .continued
            case .late: return .quiet
            }
            var byte: UInt8 = 0
            let count = unsafe Glibc.read(descriptor, &byte, 1)
            if count == 1 { return .byte(byte) }
            // A terminal whose other side was closed returns an error instead of an end.
            if count == 0 || errno == EIO { return .end }
            guard errno == EINTR || errno == EAGAIN else {
                throw TerminalError(.system, "cannot read from the terminal", errno: errno)
            }
        }
    }

    /// The same for a limit that a decoder sets.
    borrowing func read(within patience: Duration?) throws(TerminalError) -> Input {
        // A limit of less than a millisecond would not wait at all.
        try read(limit: patience.map { max(1, Int32($0 / .milliseconds(1))) } ?? -1)
    }

    /// What was typed or pasted at once, kept input first, and at most about a megabyte.
    borrowing func readAvailable() -> [UInt8] {
        var bytes = Self.takeKept()
        InputBurst.read(from: descriptor, wake, into: &bytes)
        return bytes
    }

    /// The byte that Backspace sends by the settings of the terminal.
    var eraseByte: UInt8 {
        var settings = termios()
        return unsafe tcgetattr(descriptor, &settings) == 0 ? settings.c_cc.2 : 0x7F
    }

    /// Reads everything that was typed so far.
    borrowing func takeTyped() throws(TerminalError) -> [UInt8] {
        var typed: [UInt8] = []
        // The limit is in milliseconds. It ends as soon as no more bytes are there.
        while case .byte(let byte) = try read(limit: 0) { typed.append(byte) }
        return typed
    }

    /// Keeps input for the next reader.
    static func keep(_ bytes: [UInt8]) { kept.withLock { $0 += bytes } }

    /// Takes the kept input, for a reader of another kind.
    static func takeKept() -> [UInt8] {
        kept.withLock { kept in
            defer { kept = [] }
            return Array(kept)
        }
    }

    /// Stops the job, like Ctrl-Z in the terminal; ``read(limit:)`` reports the continuation.
    func suspend() { martlet_terminal_suspend() }

    /// Writes all of `text`. It waits while the terminal is stopped.
    borrowing func write(_ text: String) throws(TerminalError) {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            guard try wait(for: Int16(POLLOUT)) == .ready else { continue }
            let count = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count > 0 {
                bytes.removeFirst(count)
            } else if errno != EINTR && errno != EAGAIN {
                throw TerminalError(.system, "cannot write to the terminal", errno: errno)
            }
        }
    }

    /// Moves on from the line of the prompt.
    borrowing func endLine() { writeOnce("\n") }

    /// Writes with a single attempt: the end of a question must not wait for a stopped terminal.
    borrowing func writeOnce(_ text: String) {
        let bytes = Array(text.utf8)
        _ = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
    }

    private enum Moment { case ready, resized, continued, late }

    /// Returns when the terminal is ready, has another size, or the limit is over; throws when the wait was ended.
    private borrowing func wait(for events: Int16, limit: Int32 = -1) throws(TerminalError) -> Moment {
        switch try wake.wait(or: descriptor, for: events, limit: limit) {
        case .late: return .late
        case .ready: return .ready
        case .woken(.resized): return .resized
        case .woken(.continued): return .continued
        case .woken(.cancelled): throw TerminalError(.cancelled, "the question was cancelled")
        case .woken: throw TerminalError(.interrupted, "the question was interrupted by a signal")
        }
    }
}

extension TerminalDevice {
    /// Lends the terminal at `path` to `body`, on a thread that may block. Cancelling the task ends its waits.
    static func with<Value: Sendable>(
        path: String, mode: Mode, _ body: @escaping @Sendable (borrowing TerminalDevice) throws(TerminalError) -> Value
    ) async throws(TerminalError) -> Value {
        let wake = try WakePipe()
        let answer = await withTaskCancellationHandler {
            await onThread {
                Result { () throws(TerminalError) in
                    try body(try TerminalDevice(path: path, wake: wake, mode: mode))
                }
            }
        } onCancel: {
            wake.cancel()
        }
        return try answer.get()
    }

    private static func onThread<Value: Sendable>(
        _ work: @escaping @Sendable () -> Result<Value, TerminalError>
    ) async -> Result<Value, TerminalError> {
        do throws(LoopError) {
            return try await onOwnThread(work)
        } catch {
            return .failure(TerminalError(.system, "cannot start a thread to ask on", errno: error.errno))
        }
    }
}

/// A pipe with which another thread, or a signal handler, ends the wait for a key. It is closed with its last user.
final class WakePipe: Sendable {
    enum Reason: UInt8 {
        case restored = 0
        case cancelled = 1
        case resized = 2
        case continued = 3
        /// The reader of a full screen has something new to wait for.
        case changed = 4
    }

    let readEnd: Int32
    let writeEnd: Int32

    init() throws(TerminalError) {
        var ends: (Int32, Int32) = (-1, -1)
        let error = unsafe martlet_wake_pipe(&ends.0, &ends.1)
        guard error == 0 else {
            throw TerminalError(.system, "cannot wait for the terminal: too many files are open", errno: error)
        }
        (readEnd, writeEnd) = ends
    }

    deinit {
        close(readEnd)
        close(writeEnd)
    }

    func cancel() { wake(.cancelled) }

    func wake(_ reason: Reason) {
        var reason = reason.rawValue
        // A full pipe has already woken the reader.
        _ = unsafe write(writeEnd, &reason, 1)
    }

    /// The result of a wait.
    enum Moment {
        /// The descriptor is ready, with the events that `poll` reports.
        case ready(Int16)
        case woken(Reason?)
        /// The limit passed.
        case late
    }

    /// Waits until the pipe is written to, the descriptor is ready, or `limit` milliseconds have passed. A negative limit
    /// never passes.
    func wait(or descriptor: Int32, for events: Int16, limit: Int32) throws(TerminalError) -> Moment {
        var waiting = [
            pollfd(fd: readEnd, events: Int16(POLLIN), revents: 0),
            pollfd(fd: descriptor, events: events, revents: 0),
        ]
        var count = unsafe poll(&waiting, 2, limit)
        while count < 0 {
            guard errno == EINTR else {
                throw TerminalError(.system, "cannot wait for the terminal", errno: errno)
            }
            count = unsafe poll(&waiting, 2, limit)
        }
        if count == 0 { return .late }
        return waiting[0].revents != 0 ? .woken(reason()) : .ready(waiting[1].revents)
    }

    /// Why the reader was woken.
    func reason() -> Reason? {
        var byte: UInt8 = 0
        return unsafe read(readEnd, &byte, 1) == 1 ? Reason(rawValue: byte) : nil
    }
}
