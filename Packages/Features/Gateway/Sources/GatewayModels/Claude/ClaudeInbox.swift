import Capabilities
import ProcessKit
import Synchronization
import TurnLoop

/// Something that a running turn has to deal with.
enum ClaudeNews: Sendable {
    case line([UInt8])
    /// The output could not be read to its end.
    case unreadable(AnyFailure)
    case outputEnded
    case exited(ChildStatus)
    case answered(String, Result<ApprovalAnswer, any Error>)
    /// Nobody has answered a request in time.
    case expired(String)
    /// The person wants the turn to end.
    case stopped
    /// The process has not gone by itself since so many lines were read.
    case overdue(after: Int)
}

/// Brings all news of a turn into one order, so that one task deals with one thing after another.
final class ClaudeInbox: Sendable {
    let news: AsyncStream<ClaudeNews>
    private let posting: AsyncStream<ClaudeNews>.Continuation
    private let permits: AsyncStream<Void>
    private let permitting: AsyncStream<Void>.Continuation
    private let state = Mutex(State())

    private struct State {
        var child: ChildProcess?
        var isStopped = false
        /// `close` cancels it.
        var alarm: Task<Void, Never>?
    }

    init() {
        (news, posting) = AsyncStream.makeStream()
        (permits, permitting) = AsyncStream.makeStream()
    }

    func post(_ news: ClaudeNews) { posting.yield(news) }

    /// Reads the process's lines, each when the one before was dealt with, so that a slow reader slows the process.
    func read(_ output: OutputPipe, limit: Int) async {
        var next = permits.makeAsyncIterator()
        do {
            while let line = try await output.nextLine(limit: limit) {
                post(.line(line))
                guard await next.next() != nil else { return }
            }
        } catch {
            if !(error is CancellationError) { post(.unreadable(AnyFailure(error))) }
        }
        post(.outputEnded)
    }

    /// The last line was dealt with.
    func permitNextLine() { permitting.yield() }

    /// Says which process is to end when the turn is stopped.
    func begin(_ child: ChildProcess) {
        let isStopped = state.withLock { state in
            state.child = child
            return state.isStopped
        }
        if isStopped { child.send(.terminate) }
    }

    /// Asks for the turn's end, and cancels its task when that takes too long. The process is asked right here: the task
    /// may be waiting for a client that reads nothing.
    func stop(_ worker: Task<TurnOutcome, any Error>, after limit: Duration, on clock: any Clock<Duration>) {
        post(.stopped)
        let alarm = Task {
            // Cut short when the turn has ended by itself.
            do { try await clock.sleep(for: limit) } catch { return }
            worker.cancel()
        }
        let child = state.withLock { state in
            state.isStopped = true
            state.alarm = alarm
            return state.child
        }
        child?.send(.terminate)
    }

    func close() {
        posting.finish()
        permitting.finish()
        state.withLock { state in
            state.alarm?.cancel()
            state.child = nil
        }
    }
}
