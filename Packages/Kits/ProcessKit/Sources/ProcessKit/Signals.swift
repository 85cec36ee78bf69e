import CProcessKit
import Glibc
import LoopKit
import Synchronization

/// Receives the signals of this process as values.
///
/// A program with its own loop on the main thread polls `fileDescriptor` and calls `next`. Other programs use
/// `for await signal in try signals.received`. In both cases a second interrupt or quit ends the process at once with
/// code 130 or 143, unless `acknowledgeInterrupt` was called in between. SIGPIPE and SIGXFSZ are ignored from then on,
/// so that the write fails and does not end the process. The former handlers are restored when this value is released.
public final class Signals: Sendable {
    /// Becomes readable when a signal has arrived. Poll it, but never read from it.
    public let fileDescriptor: Int32
    private let loop = EventLoop()
    // Created by the first use of `received`. A program that polls needs no thread.
    private let watched = Mutex<LoopDescriptor?>(nil)

    /// Starts to catch the given signals. Only one value can do so at a time.
    public static func install(_ signals: [Signal]) throws(ProcessError) -> Signals {
        let descriptor = processkit_signals_open()
        guard descriptor >= 0 else {
            if descriptor == -EBUSY {
                throw ProcessError(.signalsInUse, "cannot catch signals: another part of the program already does")
            }
            throw .system("catch signals", errno: -descriptor)
        }
        let installed = Signals(descriptor)
        processkit_settle_signals()
        for signal in signals {
            let result = processkit_signals_catch(signal.rawValue)
            guard result == 0 else { throw .system("catch signal \(signal.rawValue)", errno: -result) }
        }
        return installed
    }

    /// Until `install` is called, an interrupt ends the process with code 130, and the other ending signals with 143.
    /// There is nothing to clean up yet, and the exit code shows why the process ended.
    public static func endProcessUntilInstalled() {
        for signal in Signal.endings { processkit_signals_end(signal.rawValue) }
    }

    private init(_ fileDescriptor: Int32) {
        self.fileDescriptor = fileDescriptor
    }

    deinit {
        processkit_signals_close()
        loop.stop()
    }

    /// The oldest signal not yet taken, or nil when there is none. Never waits.
    public func next() -> Signal? {
        var number: UInt8 = 0
        // The pipe belongs to the process and is never closed.
        guard unsafe read(fileDescriptor, &number, 1) == 1 else { return nil }
        return Signal(rawValue: Int32(number))
    }

    /// Reports that the interrupt was handled, so that the next one counts as the first again.
    public func acknowledgeInterrupt() {
        processkit_signals_acknowledge()
    }

    /// Sets a function that runs just before a second interrupt or quit ends the process, for example to restore the
    /// terminal.
    ///
    /// It runs in a signal handler, so it may call only async-signal-safe functions.
    public func setRestoreHook(_ hook: (@convention(c) () -> Void)?) {
        processkit_signals_set_restore(hook)
    }

    /// The signals as they arrive, until the task is cancelled. A separate thread waits for them.
    public var received: Received {
        get throws(ProcessError) {
            let descriptor = try watched.withLock { (watched) throws(ProcessError) in
                if let watched { return watched }
                do throws(LoopError) {
                    let descriptor = try LoopDescriptor(borrowing: fileDescriptor, loop: loop)
                    watched = descriptor
                    return descriptor
                } catch {
                    throw .watching(error)
                }
            }
            return Received(signals: self, descriptor: descriptor)
        }
    }

    /// The sequence of `received`.
    public struct Received: AsyncSequence, AsyncIteratorProtocol, Sendable {
        // Signals are caught for as long as this sequence exists.
        private let signals: Signals
        private let descriptor: LoopDescriptor

        fileprivate init(signals: Signals, descriptor: LoopDescriptor) {
            self.signals = signals
            self.descriptor = descriptor
        }

        /// This sequence itself. All iterators take from the same queue.
        public func makeAsyncIterator() -> Received { self }

        /// The next signal, or nil when the task is cancelled.
        public func next() async -> Signal? {
            var number: UInt8 = 0
            while true {
                if case .moved(1) = descriptor.attempt(.readable, { unsafe read($0, &number, 1) }) {
                    return Signal(rawValue: Int32(number))
                }
                do {
                    guard try await descriptor.readable() == .ready else { return nil }
                } catch {
                    // The task was cancelled. This sequence cannot throw, so it ends.
                    return nil
                }
            }
        }
    }
}

/// A signal to a process.
public struct Signal: Hashable, Sendable {
    /// The number that the system uses.
    public let rawValue: Int32

    /// A signal by its number.
    public init(rawValue: Int32) {
        self.rawValue = rawValue
    }

    /// Ctrl-C.
    public static let interrupt = Signal(rawValue: SIGINT)
    /// A request to end.
    public static let terminate = Signal(rawValue: SIGTERM)
    /// The terminal is gone.
    public static let hangUp = Signal(rawValue: SIGHUP)
    /// Ctrl-\.
    public static let quit = Signal(rawValue: SIGQUIT)
    /// For use by programs. They end a program that does not handle them.
    public static let user1 = Signal(rawValue: SIGUSR1)
    /// The second signal for use by programs.
    public static let user2 = Signal(rawValue: SIGUSR2)
    /// A timer of this process has expired.
    public static let alarm = Signal(rawValue: SIGALRM)
    /// The signals that ask a process to end and let it clean up.
    public static let endings: [Signal] = [.interrupt, .terminate, .hangUp, .quit, .user1, .user2, .alarm]
    /// Ends the process without a chance to clean up.
    public static let kill = Signal(rawValue: SIGKILL)
    /// The terminal changed its size.
    public static let windowChange = Signal(rawValue: SIGWINCH)
}
