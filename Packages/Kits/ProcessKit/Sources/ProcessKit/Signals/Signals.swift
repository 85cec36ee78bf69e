import CProcessKit
import Glibc

/// Turns the signals of this process into values, for as long as it lives.
///
/// A program with a loop of its own on the main thread polls `fileDescriptor` and calls `next`; one without takes
/// `for await signal in try signals.received`. Either way a second interrupt ends the process at once with code 130,
/// unless `acknowledgeInterrupt` was called in between. SIGPIPE is ignored from then on. When the value goes, the
/// former handlers are back.
public final class Signals: Sendable {
    /// Becomes readable when a signal has arrived; to be polled, never read.
    public let fileDescriptor: Int32
    private let loop = EventLoop()
    private let watched: WatchedDescriptor

    /// Starts to catch the signals given; only one value can do so at a time.
    public static func install(_ signals: [Signal]) throws(ProcessError) -> Signals {
        let descriptor = processkit_signals_open()
        guard descriptor >= 0 else {
            if descriptor == -EBUSY {
                throw ProcessError(.signalsInUse, "cannot catch signals: another part of the program does already")
            }
            throw .system("catch signals", errno: -descriptor)
        }
        // The pipe itself outlives this value, so the copy that waits are made on is what closes.
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
        guard copy >= 0 else {
            processkit_signals_close()
            throw .system("catch signals", errno: errno)
        }
        let installed = Signals(descriptor, copy)
        processkit_ignore_sigpipe()
        for signal in signals {
            let result = processkit_signals_catch(signal.rawValue)
            guard result == 0 else { throw .system("catch signal \(signal.rawValue)", errno: -result) }
        }
        return installed
    }

    private init(_ fileDescriptor: Int32, _ copy: Int32) {
        self.fileDescriptor = fileDescriptor
        watched = WatchedDescriptor(owning: copy, loop: loop)
    }

    deinit {
        processkit_signals_close()
        watched.close()
        loop.stop()
    }

    /// The oldest signal not yet taken, or nil when there is none; never waits.
    public func next() -> Signal? {
        var number: UInt8 = 0
        guard case .moved(1) = watched.attempt({ unsafe read($0, &number, 1) }) else { return nil }
        return Signal(rawValue: Int32(number))
    }

    /// Says that the interrupt was acted on, so that the next one counts as the first again.
    public func acknowledgeInterrupt() {
        processkit_signals_acknowledge()
    }

    /// Sets what a second interrupt runs just before the process ends, such as putting the terminal back in order.
    ///
    /// It runs inside a signal handler: it may call only what POSIX lists as async-signal-safe.
    public func setRestoreHook(_ hook: (@convention(c) () -> Void)?) {
        processkit_signals_set_restore(hook)
    }

    /// The signals as they arrive, until the task is cancelled; a thread of its own waits for them.
    public var received: Received {
        get throws(ProcessError) {
            try loop.start()
            return Received(signals: self)
        }
    }

    /// The sequence of `received`.
    public struct Received: AsyncSequence, AsyncIteratorProtocol, Sendable {
        let signals: Signals

        /// This sequence itself: every iterator takes from the same queue.
        public func makeAsyncIterator() -> Received { self }

        /// The next signal, or nil when the task is cancelled.
        public func next() async -> Signal? {
            await signals.wait()
        }
    }

    private func wait() async -> Signal? {
        while true {
            if let signal = next() { return signal }
            do {
                guard try await watched.isReady() else { return nil }
            } catch {
                // Cancelled: a sequence that cannot throw just ends.
                return nil
            }
        }
    }
}
