import CTerminalKit
import Capabilities
import Glibc
import LoopKit
import Synchronization

/// The terminal of a full-screen program: its keys as bytes, and its screen frame by frame.
///
///     try await FullScreenTerminal.with { terminal in
///         var isRunning = true
///         terminal.offer(frame: paint(terminal.size))
///         while isRunning {
///             switch try await terminal.read() {
///             case .bytes(let bytes): isRunning = keys(bytes)
///             case .end: isRunning = false
///             case .resized, .continued, .room, .lost, .quiet: break
///             }
///             terminal.offer(frame: paint(terminal.size))
///         }
///     }
///
/// The terminal is given back in every case: at the end of the body, by an error, `exit`, a signal, a crash, and by a
/// separate process even if this one is killed. A stop (``suspend()``, SIGTSTP) leaves the screen until the job
/// continues; in the background the program stops. A process has one terminal, so only one screen, question or
/// ``TypingSilence`` is open at a time.
///
/// Reading is for one task at a time, and so is lending. Everything else may be called from any task. Frames and queries
/// never wait for the terminal. Taking the screen waits for a terminal that has not shown what was written before, and
/// leaving it waits for open replies, and less than a second for a terminal that takes no output.
public final class FullScreenTerminal: Sendable {
    /// What a screen needs.
    public struct Options: Sendable {
        /// The terminal to open, by default the controlling one.
        public var path = "/dev/tty"
        /// Whether the mouse is reported: buttons, the wheel and drags.
        public var hasMouse = false
        /// Whether the program sets the title of the window, which is then saved and restored.
        public var setsTitle = false
        /// The descriptors that have to be terminals.
        public var input = STDIN_FILENO, output = STDOUT_FILENO
        /// The name of the terminal's kind, by default from the environment.
        public var kind = unsafe getenv("TERM").map { unsafe String(cString: $0) } ?? ""

        /// The controlling terminal, without the mouse.
        public init() {}

        /// Throws why there can be no screen, before anything is written.
        public func check() throws(TerminalError) {
            let advice = "run it in a terminal without redirection, or use a command that prints lines"
            guard isatty(input) == 1 else {
                throw TerminalError(.noScreen, "a full screen needs a terminal, but standard input is none; \(advice)")
            }
            guard isatty(output) == 1 else {
                throw TerminalError(.noScreen, "a full screen needs a terminal, but standard output is none; \(advice)")
            }
            guard kind != "dumb" else {
                throw TerminalError(
                    .noScreen,
                    "a full screen needs a terminal that moves the cursor, but TERM is dumb; "
                        + "set TERM to the kind of the terminal, or use a command that prints lines")
            }
        }
    }

    /// The result of a read.
    public enum Input: Sendable, Hashable {
        /// Typed bytes, reports and replies: what came at once, up to about a megabyte.
        case bytes([UInt8])
        /// The window has another size.
        case resized
        /// The screen is shown again, empty, perhaps with another size: everything has to be painted.
        case continued
        /// A frame was refused, and now there is room: the newest state has to be painted.
        case room
        /// The terminal took nothing for a second while frames were refused. What had not reached it was discarded, so
        /// that it does not show old frames when it goes on: everything has to be painted, and modes that a frame
        /// has set have to be set again.
        case lost
        /// Nothing came within the limit.
        case quiet
        /// The terminal is gone.
        case end
    }

    /// What became of a frame.
    public enum Offer: Sendable, Hashable {
        /// The terminal has taken all of it.
        case written
        /// The terminal has taken a part. The rest is written when there is room, while a task reads.
        case waiting
        /// An earlier frame still waits. This one is dropped, and ``Input/room`` or ``Input/lost`` will ask for the
        /// newest state.
        case refused
        /// The screen is not shown. The frame is dropped, and ``Input/continued`` will ask for all of it.
        case hidden
    }

    private struct State {
        var writer = FrameWriter()
        /// The showing of the screen that the frames of the caller belong to.
        var turn: UInt32
        /// When the terminal has last taken something of a frame that waits.
        var progress = ContinuousClock.now
        /// Whether the screen is about to be left, so that nothing is read or written, and whether it was.
        var isEnding = false, isLeft = false
        /// Whether another program has the terminal.
        var isLent = false
        /// Whether the terminal shows progress.
        var hasProgress = false
        /// Whether replies to queries are still to come.
        var awaitsReplies = false
        /// Input that an earlier reader has kept.
        var kept: [UInt8]
    }

    /// How many bytes were typed before keys came as they are: until then the terminal made Ctrl-J of Return.
    public let typedAhead: Int
    let device: ScreenDevice
    private let wake: WakePipe
    private let thread: OwnThreadExecutor
    private let state: Mutex<State>

    /// Takes the terminal. ``leave()`` gives it back; ``with(_:_:)`` does both.
    ///
    /// Throws ``TerminalError/Kind/noScreen`` as ``Options/check()`` does, `inBackground` or `busy`.
    public init(_ options: Options = Options()) throws(TerminalError) {
        try options.check()
        let wake = try WakePipe()
        do throws(LoopError) {
            thread = try OwnThreadExecutor()
        } catch {
            throw TerminalError(.system, "cannot start a thread to read on", errno: error.errno)
        }
        do throws(TerminalError) {
            device = try ScreenDevice(options, wake: wake)
        } catch {
            thread.end()
            throw error
        }
        self.wake = wake
        let kept = TerminalDevice.takeKept()
        state = Mutex(State(turn: martlet_screen_turn(), kept: kept))
        typedAhead = kept.count + device.pending
    }

    deinit {
        leaveNow()
        thread.end()
    }

    /// Lends the terminal to `body`, and gives it back however that ends.
    public nonisolated(nonsending) static func with<Value>(
        _ options: Options = Options(), _ body: (FullScreenTerminal) async throws -> Value
    ) async throws -> Value {
        let terminal = try FullScreenTerminal(options)
        do {
            let value = try await body(terminal)
            await terminal.leave()
            return value
        } catch {
            await terminal.leave()
            throw error
        }
    }

    /// The size of the window; 80 by 24 if the kernel does not know it.
    public var size: TerminalSize { device.size }

    /// Stops the job, as Ctrl-Z does elsewhere. ``read(limit:)`` reports the continuation.
    public func suspend() { martlet_terminal_suspend() }
}

// MARK: Frames

extension FullScreenTerminal {
    /// Writes a frame as far as the terminal takes it, without waiting. At most one frame waits for room.
    ///
    /// With `replacesWaiting` the frame takes the place of one that waits, of which a part may be on the screen. So it
    /// has to paint everything, as after a change of the size.
    @discardableResult
    public func offer(frame: [UInt8], replacesWaiting: Bool = false) -> Offer {
        offer(frame, replacesWaiting: replacesWaiting) { _, _ in }
    }

    /// The same, and something that has to be known of what became of it before anything else is done.
    private func offer(
        _ frame: [UInt8], replacesWaiting: Bool = false, then note: (Offer, inout State) -> Void
    ) -> Offer {
        let offer = state.withLock { state in
            guard !state.isEnding else { return (Offer.hidden, false) }
            let (turn, hadRefused) = (state.turn, state.writer.hasRefused)
            let offer = state.writer.offer(frame, replacesWaiting: replacesWaiting) {
                device.write($0, turn: turn, $1)
            }
            if offer == .waiting { state.progress = .now }
            note(offer, &state)
            return (offer, !hadRefused)
        }
        // The reader has to wait for room too, and not for ever if a refused caller waits for that.
        switch offer {
        case (.waiting, _), (.refused, true): wake.wake(.changed)
        default: break
        }
        return offer.0
    }

    /// The most bytes of a text that can be copied. In Base64 they make 100,000, more than which some terminals refuse.
    public static let copyLimit = 74_994

    /// Asks the terminal to put a text on the clipboard (OSC 52), as it is offered a frame. Only a command of the user
    /// should do so.
    ///
    /// No terminal says whether it did. Some refuse, and tmux does unless `set-clipboard` is on, so a message should say
    /// only that the text was sent to the terminal. Throws `tooLong` for a text above ``copyLimit``.
    @discardableResult
    public func copy(_ text: String) throws(TerminalError) -> Offer {
        let bytes = Array(text.utf8)
        guard bytes.count <= Self.copyLimit else {
            throw TerminalError(
                .tooLong,
                "the text has \(bytes.count) bytes, and a terminal copies at most \(Self.copyLimit); select less")
        }
        return offer(frame: Array("\u{1B}]52;c;\(Base64.encode(bytes))\u{1B}\\".utf8))
    }

    /// Shows progress in the terminal's tab or in the task bar (OSC 9;4), as it is offered a frame. Leaving the screen ends
    /// it, and after ``Input/continued`` it has to be shown again.
    ///
    /// Use it only on a terminal that is known to have it: others, such as kitty, may show a notification each time.
    @discardableResult
    public func show(_ progress: TerminalProgress) -> Offer {
        // Where nothing was shown there is nothing to end.
        guard progress != .none || state.withLock({ $0.hasProgress }) else { return .written }
        // Noted as it is written: before that, leaving the screen would end a progress that the terminal never got.
        return offer(progress.sequence) { offer, state in
            if offer == .written || offer == .waiting { state.hasProgress = true }
        }
    }

    /// Asks the terminal something. The last query has to be DA1 (`CSI c`), which every terminal answers.
    ///
    /// The replies come as bytes of ``read(limit:)``. Until ``repliesHaveCome()`` leaving the screen waits for them, at
    /// most 200 ms, and discards them, because a late reply would be typed into the shell. A stop of the job discards
    /// them as well.
    @discardableResult
    public func ask(_ queries: [UInt8]) -> Offer {
        let awaitedReplies = state.withLock { state in
            defer { state.awaitsReplies = true }
            return state.awaitsReplies
        }
        martlet_screen_fence(true)
        let offer = offer(frame: queries)
        // What was not sent is not answered, but an earlier question still is.
        if !awaitedReplies, offer == .refused || offer == .hidden { repliesHaveCome() }
        return offer
    }

    /// Says that the replies to ``ask(_:)`` have come.
    public func repliesHaveCome() {
        martlet_screen_fence(false)
        state.withLock { $0.awaitsReplies = false }
    }
}

// MARK: Reading

extension FullScreenTerminal {
    /// A read that can be cancelled from another task.
    private final class Call: Sendable {
        let isCancelled = Atomic(false)
    }

    /// Waits for input, an event, or the end of the limit.
    ///
    /// It does not block a thread of the shared pool. Throws `cancelled` as soon as the task is cancelled, and
    /// `interrupted` if a signal has left the screen and the process handles that signal.
    public nonisolated(nonsending) func read(limit: Duration? = nil) async throws(TerminalError) -> Input {
        let call = Call()
        let thread = thread
        let result = await withTaskCancellationHandler {
            await withTaskExecutorPreference(thread) { await self.readOnThread(call, limit) }
        } onCancel: {
            call.isCancelled.store(true, ordering: .relaxed)
            wake.cancel()
        }
        return try result.get()
    }

    @concurrent private func readOnThread(_ call: Call, _ limit: Duration?) async -> Result<Input, TerminalError> {
        Result { () throws(TerminalError) in try nextInput(call, limit) }
    }

    private func nextInput(_ call: Call, _ limit: Duration?) throws(TerminalError) -> Input {
        let end = limit.map { ContinuousClock.now + $0 }
        while true {
            if call.isCancelled.load(ordering: .relaxed) {
                throw TerminalError(.cancelled, "waiting for keys was cancelled")
            }
            let (isEnding, isWaiting, stall, kept) = state.withLock { state in
                defer { state.kept = [] }
                let stall = state.writer.hasRefused ? state.progress + Self.stallLimit : nil
                return (state.isEnding, state.writer.isWaiting, stall, state.kept)
            }
            if isEnding { return .end }
            if !kept.isEmpty { return .bytes(kept) }
            let next = [end, stall].compactMap { $0 }.min()
            switch try device.wait(forRoom: isWaiting, limit: Self.milliseconds(until: next)) {
            case .late:
                if let end, end <= .now { return .quiet }
                if dropIfStalled() { return .lost }
            case .readable:
                switch try device.readBurst() {
                case .bytes(let bytes): return .bytes(bytes)
                case .end: return .end
                case .nothing: break
                }
            case .writable: if resume() == .hasRoom { return .room }
            case .woken(.resized): return .resized
            case .woken(.continued):
                // What the caller made until now was for the screen before the stop.
                state.withLock { state in
                    state.turn = martlet_screen_turn()
                    state.writer = FrameWriter()
                    (state.awaitsReplies, state.hasProgress) = (false, false)
                }
                return .continued
            case .woken(.restored): throw TerminalError(.interrupted, "the screen was left because of a signal")
            // Another read may have been cancelled.
            case .woken(.cancelled), .woken(.changed): break
            }
        }
    }

    /// How long a terminal may take nothing before what it has not got is old.
    private static let stallLimit = Duration.seconds(1)

    private func resume() -> FrameWriter.Progress {
        state.withLock { state in
            let turn = state.turn
            return state.writer.resume {
                let attempt = device.write($0, turn: turn, $1)
                if attempt != .took(0) { state.progress = .now }
                return attempt
            }
        }
    }

    private func dropIfStalled() -> Bool {
        state.withLock { state in
            guard state.writer.hasRefused, state.progress + Self.stallLimit <= .now else { return false }
            // Where nothing can be discarded, the next try is a limit later.
            state.progress = .now
            guard device.discardOutput(turn: state.turn) else { return false }
            state.writer.drop()
            return true
        }
    }

    /// For `poll`: -1 waits for ever.
    private static func milliseconds(until end: ContinuousClock.Instant?) -> Int32 {
        guard let end else { return -1 }
        let left = (end - .now) / .milliseconds(1)
        return Int32(max(0, min(left.rounded(.up), 1_000_000_000)))
    }
}

// MARK: Lending and leaving

extension FullScreenTerminal {
    /// Says that another program is about to get the terminal. Throws if one has it, or the screen was left.
    func beginLending() throws(TerminalError) {
        try state.withLock { state throws(TerminalError) in
            guard !state.isEnding else { throw TerminalError(.noScreen, "the screen was left") }
            guard !state.isLent else {
                throw TerminalError(.busy, "another program has the terminal; end that one first")
            }
            state.isLent = true
        }
    }

    /// Says that the other program has ended.
    func endLending() { state.withLock { $0.isLent = false } }

    /// Gives the terminal back, after the replies to open queries have come. A second call changes nothing, and a read
    /// that waits ends.
    public nonisolated(nonsending) func leave() async {
        let thread = thread
        // A read that waits has the thread, and gives it up.
        state.withLock { $0.isEnding = true }
        wake.wake(.changed)
        await withTaskExecutorPreference(thread) { await self.leaveOnThread() }
    }

    @concurrent private func leaveOnThread() async { leaveNow() }

    private func leaveNow() {
        let (isFirst, awaitsReplies, unread) = state.withLock { state in
            defer { (state.isEnding, state.isLeft, state.kept) = (true, true, []) }
            return (!state.isLeft, state.awaitsReplies, state.kept)
        }
        guard isFirst else { return }
        // What was typed before the screen, and not read on it, is for the next question.
        TerminalDevice.keep(unread)
        if awaitsReplies {
            martlet_screen_fence(false)
            var answer = DeviceAttributesAnswer()
            device.discard { answer.isEnded(by: $0) }
        }
        device.leave()
    }
}

/// Finds the end of an answer to DA1: `CSI ? … c`.
struct DeviceAttributesAnswer: Sendable {
    private static let beginning = Array("\u{1B}[?".utf8)
    private var matched = 0

    mutating func isEnded(by byte: UInt8) -> Bool {
        if matched < Self.beginning.count {
            matched = byte == Self.beginning[matched] ? matched + 1 : byte == 0x1B ? 1 : 0
        } else if byte == UInt8(ascii: "c") {
            matched = 0
            return true
        } else if byte != UInt8(ascii: ";"), !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) {
            matched = byte == 0x1B ? 1 : 0
        }
        return false
    }
}
