import CProcessKit
import Glibc
import LoopKit
import Synchronization

/// Turns the signals of this process into values, for as long as it lives.
///
/// A program with a loop of its own on the main thread polls `fileDescriptor` and calls `next`; one without takes
/// `for await signal in try signals.received`. Either way a second interrupt or quit ends the process at once with code 130
/// or 143, unless `acknowledgeInterrupt` was called in between. SIGPIPE and SIGXFSZ, which would end it where a write merely
/// fails, are ignored from then on. When the value goes, the former handlers are back.
public final class Signals: Sendable {
    /// Becomes readable when a signal has arrived; to be polled, never read.
    public let fileDescriptor: Int32
    private let loop = EventLoop()
    // Made when somebody first waits by it; a program that polls needs no thread.
    private let watched = Mutex<LoopDescriptor?>(nil)

    /// Starts to catch the signals given; only one value can do so at a time.
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

    /// Ends the process with 130 for an interrupt and 143 for the others that ask it to end, until `install` is called:
    /// what has begun nothing has nothing to clean up, and its exit code still says why it ended.
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

    /// The oldest signal not yet taken, or nil when there is none; never waits.
    public func next() -> Signal? {
        var number: UInt8 = 0
        // The pipe belongs to the process and is never closed.
        guard unsafe read(fileDescriptor, &number, 1) == 1 else { return nil }
        return Signal(rawValue: Int32(number))
    }

    /// Says that the interrupt was acted on, so that the next one counts as the first again.
    public func acknowledgeInterrupt() {
        processkit_signals_acknowledge()
    }

    /// Sets what a second interrupt or quit runs just before the process ends, such as putting the terminal back in order.
    ///
    /// It runs inside a signal handler: it may call only what POSIX lists as async-signal-safe.
    public func setRestoreHook(_ hook: (@convention(c) () -> Void)?) {
        processkit_signals_set_restore(hook)
    }

    /// The signals as they arrive, until the task is cancelled; a thread of its own waits for them.
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
        // Catches as long as somebody may wait.
        private let signals: Signals
        private let descriptor: LoopDescriptor

        fileprivate init(signals: Signals, descriptor: LoopDescriptor) {
            self.signals = signals
            self.descriptor = descriptor
        }

        /// This sequence itself: every iterator takes from the same queue.
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
                    // Cancelled: a sequence that cannot throw just ends.
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
    /// Please end.
    public static let terminate = Signal(rawValue: SIGTERM)
    /// The terminal is gone.
    public static let hangUp = Signal(rawValue: SIGHUP)
    /// Ctrl-\.
    public static let quit = Signal(rawValue: SIGQUIT)
    /// What each program takes as it likes, and what ends those that do not.
    public static let user1 = Signal(rawValue: SIGUSR1)
    public static let user2 = Signal(rawValue: SIGUSR2)
    /// A time is over that somebody has set for this process.
    public static let alarm = Signal(rawValue: SIGALRM)
    /// Those that ask a process to end and let it clean up.
    public static let endings: [Signal] = [.interrupt, .terminate, .hangUp, .quit, .user1, .user2, .alarm]
    /// The end, without a chance to clean up.
    public static let kill = Signal(rawValue: SIGKILL)
    /// The terminal changed its size.
    public static let windowChange = Signal(rawValue: SIGWINCH)
}
