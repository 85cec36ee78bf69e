import Capabilities
public import HTTPCore
import LoopKit
import Synchronization

/// Keeps one connection up: connects, hands over what comes, tests for life, and connects again (rows D-02 to D-04).
///
///     let connection = ReconnectingConnection { try await client.connect(request).kept }
///     for await state in connection.states() { … }                  // in one task
///     try await connection.run { input in … }                       // in another; it lives here
public final class ReconnectingConnection<Connection: KeptConnection, Time: Clock<Duration>>: Sendable {
    public typealias Machine = ConnectionMachine<Time.Instant>
    public typealias State = Machine.State

    private struct Shared {
        var machine: Machine
        /// The attempt that counts; what an earlier one says is not heard.
        var attempt = 0
        var current: Connection?
        var lastError: (any Error)?
        var listeners: [UInt64: AsyncStream<State>.Continuation] = [:]
        var lastListener: UInt64 = 0
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

    /// Prepares to connect by `make`, which has its own time limit.
    ///
    /// `watchNetwork` runs as long as the connection is kept, and calls what it is given whenever what is connected
    /// should be made anew; `systemNetwork` is one. `isFinal` says of an error of `make` that the next attempt would end
    /// with it too, so that it is the last: asking a person or showing a wrong key again and again helps nobody.
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

    /// How it is doing now.
    public var state: State { shared.withLock { $0.machine.state } }

    /// The connection while there is one, to send by.
    public var current: Connection? { shared.withLock { $0.current } }

    /// Why the last attempt failed or the last connection ended.
    public var lastError: (any Error)? { shared.withLock { $0.lastError } }

    /// The state now and every one that follows. Each caller gets all of them.
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

    /// Keeps the connection up and gives `body` what comes, one thing at a time; nothing is read while it works.
    ///
    /// Returns when it has given up, for the reason in `lastError`, and throws `CancellationError` when the task is cancelled; either way the
    /// connection is closed. An error that `body` throws counts as a loss of the connection.
    public func run(_ body: @escaping @Sendable (Connection.Input) async throws -> Void) async throws {
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
        try Task.checkCancellation()
    }
}

// MARK: One run

extension ReconnectingConnection {
    /// What one run keeps to itself: how the attempt is stopped, and which alarm is set.
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
                // One that was set before a nearer one says nothing new.
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

        /// Ends the attempt that there is, and gives the number of the next.
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
                // One that cannot be sent is followed by silence, and that is what ends the connection.
                do { try await connection.ping() } catch {}
            }
        }

        /// One alarm is enough until it rings: what moves the next tick further away needs no other.
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
        // Within the lock, so that every listener gets every state once and in its order.
        for case .changed(let state) in actions {
            for listener in shared.listeners.values { listener.yield(state) }
        }
        return actions
    }

    /// One attempt and the connection that it makes, until the server closes that.
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
            // Neither of the two events asks for anything to be done.
            _ = Self.handle(event, at: now, &shared)
        }
    }
}

/// An attempt that need not be repeated.
private struct Refused: Error {
    let cause: any Error
}

/// Whether an attempt to connect that ended with this error is not worth repeating: credentials and certificates that
/// are refused, a person's no, an address at which there is something else.
@Sendable public func isFinalForConnections(_ error: any Error) -> Bool {
    guard let error = error as? HTTPError else {
        let exit = (error as? any Failure)?.exit
        return exit == .denied || exit == .usage || exit == .unanswered
    }
    guard error.kind == .status, let status = error.status else { return !error.mayPass }
    // What a server says while it starts, is moved or has too much to do.
    return status.code < 500 && status != .tooManyRequests && status.code != 408
}

/// The server closed the connection in good order.
public struct ConnectionEnded: Error, Sendable {}

/// A connection that `ReconnectingConnection` keeps up, such as a `WebSocket`.
public protocol KeptConnection: Sendable {
    associatedtype Input: Sendable

    /// The next thing from the server, each of which is a sign of life; nil when the server has closed.
    func receive() async throws -> Input?
    /// Asks the server for a sign of life.
    func ping() async throws
    /// Ends it in good order, within a short time, also in a cancelled task.
    func close() async
}

/// A `WebSocket` as something that `ReconnectingConnection` keeps up: its pings and pongs are signs of life too.
public struct KeptWebSocket: KeptConnection {
    public let socket: WebSocket

    public init(_ socket: WebSocket) {
        self.socket = socket
    }

    public func receive() async throws -> WebSocketReader.Input? { try await socket.receiveInput() }

    public func ping() async throws { try await socket.ping() }

    public func close() async { await socket.close(within: .seconds(1)) }
}

/// Calls `changed` whenever this machine's way out changes or it wakes up, until the task is cancelled (row D-04); for
/// `ReconnectingConnection`. Where the system does not tell, it returns.
@Sendable public func systemNetwork(_ changed: @escaping @Sendable () -> Void) async {
    do {
        let monitor = try await NetworkMonitor.start(loop: EventLoop())
        // Containers come and go all day, and no connection is worse for it.
        for try await change in monitor where monitor.concernsWayOut(change) { changed() }
    } catch {
        // Without word from the system the pings find out, only later.
    }
}
