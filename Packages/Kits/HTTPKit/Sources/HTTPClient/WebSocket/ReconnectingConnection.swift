import Capabilities
public import HTTPCore
import LoopKit
import Synchronization

/// Maintains a connection: connects, delivers what arrives, sends pings, and reconnects (rows D-02 to D-04).
///
///     let connection = ReconnectingConnection { try await client.connect(request).kept }
///     for await state in connection.states() { … }                  // in one task
///     try await connection.run { input in … }                       // in another; it lives here
public final class ReconnectingConnection<Connection: KeptConnection, Time: Clock<Duration>>: Sendable {
    /// The rules by which it connects, over the times of its clock.
    public typealias Machine = ConnectionMachine<Time.Instant>
    /// The state of the connection, as `states()` delivers it.
    public typealias State = Machine.State

    private struct Shared {
        var machine: Machine
        /// The current attempt; events of earlier ones are ignored.
        var attempt = 0
        var current: Connection?
        var lastError: (any Error)?
        var listeners: [UInt64: AsyncStream<State>.Continuation] = [:]
        var lastListener: UInt64 = 0
        /// The span of the run.
        var span: ActiveSpan?
    }

    private enum Message: Sendable {
        case networkChanged
        case alarm(Time.Instant)
        case connected
        case failed(attempt: Int, any Error, isFinal: Bool)
    }

    private let clock: Time
    private let make: @Sendable () async throws -> Connection
    private let watchNetwork: @Sendable (@escaping @Sendable () -> Void) async -> Void
    private let isFinal: @Sendable (any Error) -> Bool
    private let shared: Mutex<Shared>

    /// Prepares to connect with `make`, which must enforce its own time limit.
    ///
    /// `watchNetwork` runs as long as the connection is maintained, and calls its argument whenever the connection
    /// should be remade; `systemNetwork` is one implementation. `isFinal` returns whether an error of `make` would
    /// recur on every attempt, so that it is not retried: asking a person or sending a wrong key again and again does
    /// not help.
    public init(
        policy: ConnectionPolicy = ConnectionPolicy(), clock: Time,
        watchNetwork: @escaping @Sendable (_ changed: @escaping @Sendable () -> Void) async -> Void = { _ in },
        isFinal: @escaping @Sendable (any Error) -> Bool = isFinalForConnections,
        _ make: @escaping @Sendable () async throws -> Connection
    ) {
        self.isFinal = isFinal
        self.clock = clock
        self.make = make
        self.watchNetwork = watchNetwork
        shared = Mutex(Shared(machine: Machine(policy: policy)))
    }

    deinit {
        for listener in shared.withLock({ $0.listeners.values.map(\.self) }) { listener.finish() }
    }

    /// The current state.
    public var state: State { shared.withLock { $0.machine.state } }

    /// The current connection, for sending, or nil.
    public var current: Connection? { shared.withLock { $0.current } }

    /// The error of the last failed attempt or lost connection.
    public var lastError: (any Error)? { shared.withLock { $0.lastError } }

    /// The current state and all later ones. Each caller gets all of them.
    public func states() -> AsyncStream<State> {
        let (stream, continuation) = AsyncStream.makeStream(of: State.self)
        let number = shared.withLock { shared in
            shared.lastListener += 1
            shared.listeners[shared.lastListener] = continuation
            continuation.yield(shared.machine.state)
            return shared.lastListener
        }
        continuation.onTermination = { [weak self] _ in
            _ = self?.shared.withLock { $0.listeners.removeValue(forKey: number) }
        }
        return stream
    }

    /// Maintains the connection and passes each input to `body`, one at a time; nothing is read while `body` runs.
    ///
    /// Returns after giving up, with the reason in `lastError`, and throws `CancellationError` when the task is
    /// cancelled. Either way the connection is closed. An error from `body` counts as a lost connection.
    public func run(_ body: @escaping @Sendable (Connection.Input) async throws -> Void) async throws {
        await Tracer.current.span("websocket", .client, of: "http") { span in
            shared.withLock { $0.span = span }
            await maintain(body)
        }
        try Task.checkCancellation()
    }

    private func maintain(_ body: @escaping @Sendable (Connection.Input) async throws -> Void) async {
        let (messages, mailbox) = AsyncStream.makeStream(of: Message.self)
        await withDiscardingTaskGroup { group in
            group.addTask { [watchNetwork] in await watchNetwork { mailbox.yield(.networkChanged) } }
            var driver = Driver(owner: self, mailbox: mailbox, body: body)
            driver.step(.start, &group)
            for await message in messages {
                driver.handle(message, &group)
                if state == .disconnected { break }
            }
            driver.step(.stop, &group)
            mailbox.finish()
            group.cancelAll()
        }
    }
}

// MARK: One run

extension ReconnectingConnection {
    /// The state of one run: how to stop the attempt, and which alarm is set.
    private struct Driver {
        let owner: ReconnectingConnection
        let mailbox: AsyncStream<Message>.Continuation
        let body: @Sendable (Connection.Input) async throws -> Void
        var stop: AsyncStream<Never>.Continuation?
        var alarm: Time.Instant?

        mutating func handle(_ message: Message, _ group: inout DiscardingTaskGroup) {
            switch message {
            case .networkChanged: step(.networkChanged, &group)
            case .alarm(let time):
                // A nearer alarm has replaced this one.
                guard alarm == time else { return }
                alarm = nil
                step(.tick, &group)
            case .connected: setAlarm(&group)
            case .failed(let attempt, let error, let isFinal):
                guard owner.shared.withLock({ $0.attempt == attempt }) else { return }
                owner.shared.withLock { $0.lastError = error }
                _ = end()
                step(isFinal ? .refused : .failed, &group)
            }
        }

        mutating func step(_ event: Machine.Event, _ group: inout DiscardingTaskGroup) {
            let now = owner.clock.now
            for action in owner.handle(event, at: now) {
                switch action {
                case .drop: _ = end()
                case .connect: connect(&group)
                case .ping: ping(&group)
                case .changed: break
                }
            }
            setAlarm(&group)
        }

        /// Ends the current attempt and returns the number of the next.
        private mutating func end() -> Int {
            stop?.finish()
            stop = nil
            return owner.shared.withLock { shared in
                shared.current = nil
                shared.attempt += 1
                return shared.attempt
            }
        }

        private mutating func connect(_ group: inout DiscardingTaskGroup) {
            let attempt = end()
            let (stopped, stop) = AsyncStream.makeStream(of: Never.self)
            self.stop = stop
            group.addTask { [owner, mailbox, body] in
                await withTaskGroup(of: Void.self) { inner in
                    inner.addTask { for await _ in stopped {} }
                    inner.addTask {
                        do {
                            try await owner.live(attempt, mailbox, body)
                            mailbox.yield(.failed(attempt: attempt, ConnectionEnded(), isFinal: false))
                        } catch let refusal as Refused {
                            mailbox.yield(.failed(attempt: attempt, refusal.cause, isFinal: true))
                        } catch {
                            mailbox.yield(.failed(attempt: attempt, error, isFinal: false))
                        }
                    }
                    await inner.next()
                    inner.cancelAll()
                }
            }
        }

        private func ping(_ group: inout DiscardingTaskGroup) {
            guard let connection = owner.current else { return }
            group.addTask {
                // A ping that cannot be sent is followed by silence, which ends the connection.
                do { try await connection.ping() } catch {}
            }
        }

        /// One alarm is enough: a tick that moves to a later time needs no new one.
        private mutating func setAlarm(_ group: inout DiscardingTaskGroup) {
            guard let next = owner.shared.withLock({ $0.machine.nextTick }) else { return }
            if let alarm, alarm <= next { return }
            alarm = next
            group.addTask { [owner, mailbox] in
                do { try await owner.clock.sleep(until: next, tolerance: nil) } catch { return }
                mailbox.yield(.alarm(next))
            }
        }
    }

    private func handle(_ event: Machine.Event, at now: Time.Instant) -> [Machine.Action] {
        shared.withLock { Self.handle(event, at: now, &$0) }
    }

    private static func handle(_ event: Machine.Event, at now: Time.Instant, _ shared: inout Shared) -> [Machine.Action]
    {
        let actions = shared.machine.handle(event, at: now)
        // Within the lock, so that every listener gets every state once and in order.
        for case .changed(let state) in actions {
            for listener in shared.listeners.values { listener.yield(state) }
            shared.span?.happened("websocket.\(state.word)")
        }
        return actions
    }

    /// One attempt and its connection, until the server closes it.
    private func live(
        _ attempt: Int, _ mailbox: AsyncStream<Message>.Continuation,
        _ body: @Sendable (Connection.Input) async throws -> Void
    ) async throws {
        let connection: Connection
        do {
            connection = try await make()
        } catch {
            throw isFinal(error) ? Refused(cause: error) : error
        }
        note(.connected, of: attempt, connection)
        mailbox.yield(.connected)
        let result: Result<Void, any Error>
        do {
            while let input = try await connection.receive() {
                note(.received, of: attempt, connection)
                try await body(input)
            }
            result = .success(())
        } catch {
            result = .failure(error)
        }
        await connection.close()
        try result.get()
    }

    private func note(_ event: Machine.Event, of attempt: Int, _ connection: Connection) {
        let now = clock.now
        shared.withLock { shared in
            guard shared.attempt == attempt else { return }
            shared.current = connection
            // These two events require no action.
            _ = Self.handle(event, at: now, &shared)
        }
    }
}

/// An attempt that should not be retried.
private struct Refused: Error {
    let cause: any Error
}

/// Whether an attempt that failed with this error should not be retried: refused credentials or certificates, a
/// person's refusal, or something else at the address.
@Sendable public func isFinalForConnections(_ error: any Error) -> Bool {
    guard let error = error as? HTTPError else {
        let exit = (error as? any Failure)?.exit
        return exit == .denied || exit == .usage || exit == .unanswered
    }
    guard error.kind == .status, let status = error.status else { return !error.mayPass }
    // Statuses of a server that is starting, moving or overloaded are retried.
    return status.code < 500 && status != .tooManyRequests && status.code != 408
}

/// The server closed the connection normally.
public struct ConnectionEnded: Error, Sendable {}

/// A connection that `ReconnectingConnection` maintains, such as a `WebSocket`.
public protocol KeptConnection: Sendable {
    /// What arrives: the messages, and other signs of life.
    associatedtype Input: Sendable

    /// The next input from the server, which counts as a sign of life; nil after the server closed.
    func receive() async throws -> Input?
    /// Sends a ping to the server.
    func ping() async throws
    /// Closes normally within a short time, even in a cancelled task.
    func close() async
}

/// A `WebSocket` for `ReconnectingConnection`; its pings and pongs also count as signs of life.
public struct KeptWebSocket: KeptConnection {
    /// The connection itself, to send messages.
    public let socket: WebSocket

    /// - Parameter socket: an open connection, which `ReconnectingConnection` closes.
    public init(_ socket: WebSocket) {
        self.socket = socket
    }

    public func receive() async throws -> WebSocketReader.Input? { try await socket.receiveInput() }

    public func ping() async throws { try await socket.ping() }

    public func close() async { await socket.close(within: .seconds(1)) }
}

/// Calls `changed` whenever this machine's default route changes or it wakes up, until the task is cancelled (row
/// D-04); for `ReconnectingConnection`. Returns if the system does not report changes.
@Sendable public func systemNetwork(_ changed: @escaping @Sendable () -> Void) async {
    do {
        let monitor = try await NetworkMonitor.start(loop: EventLoop())
        // Containers come and go all day without affecting the connection.
        for try await change in monitor where monitor.concernsWayOut(change) { changed() }
    } catch {
        // If the system does not report changes, the pings detect them later.
    }
}
