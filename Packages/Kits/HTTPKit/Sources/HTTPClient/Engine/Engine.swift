import HTTPCore
import LoopKit
import Synchronization

/// One pool of connections and the thread that works it.
///
/// The thread starts with the first request. A pool that was retired finishes what runs, takes nothing new, and ends;
/// so what one trust decided is never used under another.
final class Engine: Sendable {
    enum Command: Sendable {
        case start(Transfer)
        /// The reader has taken the bytes.
        case resume(Transfer)
        /// The writer has brought bytes.
        case feed(Transfer)
        case cancel(Transfer)
    }

    struct State {
        enum Stage { case idle, running, ended }

        var stage = Stage.idle
        var commands: [Command] = []
        var waker: MultiHandle.Waker?
        /// The thread is in its wait, or about to be, and must be woken for a command.
        var isAsleep = false
        var isRetired = false
        var isClosed = false
        var closers: [Suspension] = []
    }

    let setup: ConnectionSetup
    let userAgent: String
    let state = Mutex(State())

    init(setup: ConnectionSetup, userAgent: String) {
        self.setup = setup
        self.userAgent = userAgent
    }

    /// Begins a try. Nil when the pool was retired meanwhile, and the caller must use its successor.
    func start(_ plan: TransferPlan) throws(HTTPError) -> Transfer? {
        let transfer = Transfer(plan, on: self)
        let (isTaken, mustStart) = state.withLock { state in
            guard !state.isRetired else { return (false, false) }
            append(.start(transfer), to: &state)
            guard state.stage == .idle else { return (true, false) }
            state.stage = .running
            return (true, true)
        }
        if mustStart { try startThread() }
        return isTaken ? transfer : nil
    }

    func post(_ command: Command) {
        state.withLock { state in
            guard state.stage != .ended else { return }
            append(command, to: &state)
        }
    }

    /// Takes no new request; the thread ends with the last that runs.
    func retire() {
        state.withLock { state in
            state.isRetired = true
            wakeIfAsleep(&state)
        }
    }

    /// Ends every request that runs, and returns when the thread has ended.
    func close() async {
        await Suspension.wait { task in
            state.withLock { state in
                state.isRetired = true
                state.isClosed = true
                guard state.stage == .running else { return false }
                wakeIfAsleep(&state)
                state.closers.append(task)
                return true
            }
        }
    }

    private func append(_ command: Command, to state: inout State) {
        state.commands.append(command)
        wakeIfAsleep(&state)
    }

    private func wakeIfAsleep(_ state: inout State) {
        guard state.isAsleep else { return }
        state.isAsleep = false
        state.waker?.wake()
    }

    private func startThread() throws(HTTPError) {
        do throws(LoopError) {
            // Nobody joins it: it ends by itself, and `close` is told when.
            _ = try OwnThread { self.run() }
        } catch {
            let failure = HTTPError(.invalid, error.message, mayHaveBeenSent: false, cause: error)
            end(failure)
            throw failure
        }
    }

    private func run() {
        do throws(HTTPError) {
            let multi = try MultiHandle()
            state.withLock { $0.waker = multi.waker }
            let loop = EngineLoop(self, multi)
            loop.run()
            // Nobody may wake a handle that is gone, so the loop, which owns it, outlives the waker.
            withExtendedLifetime(loop) { state.withLock { $0.waker = nil } }
        } catch {
            return end(error)
        }
        end(HTTPError(.closed, "the client was closed before the request was sent", mayHaveBeenSent: false))
    }

    /// Whether the thread has ended, or will never begin.
    var hasEnded: Bool { state.withLock { $0.stage == .ended || $0.isRetired && $0.stage == .idle } }

    /// Fails what was still to be started, and tells those who wait for the end.
    private func end(_ failure: HTTPError) {
        let (commands, closers) = state.withLock { state in
            state.stage = .ended
            state.isRetired = true
            defer { (state.commands, state.closers) = ([], []) }
            return (state.commands, state.closers)
        }
        for case .start(let transfer) in commands {
            if case .pipe(let pipe) = transfer.plan.upload { pipe.close() }
            transfer.finish(.failure(failure))
        }
        for closer in closers { closer.resume() }
    }
}
