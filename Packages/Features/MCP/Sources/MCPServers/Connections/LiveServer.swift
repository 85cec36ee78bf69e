public import Capabilities
import JSON
public import MCPKit
import Synchronization

/// A server that runs for as long as the program, from the first moment that it is needed. If it ends, it is started again
/// when it is next needed, up to a limit.
///
/// It runs with the rights of the person who set it up or agreed to it, whoever needs it: what others may ask of it is
/// decided before it is asked.
public final class LiveServer: Sendable {
    /// The server as it is set up.
    public let server: ConfiguredServer
    /// What happened to it, and what it said.
    public let log: ServerLog
    let surroundings: ServerSurroundings
    private let sampler: Sampler?
    /// Throws if the server may not be started now: what it would run may have changed since it was agreed to.
    private let permit: @Sendable () throws -> Void
    private let changes: Signal
    private let state = Mutex(State())

    /// Asks a model for a server, after it has asked the person.
    public typealias Sampler =
        @Sendable (_ request: MCPSampling, _ server: String, _ caller: Caller) async throws -> (MCPSampled, tokens: Int)

    private struct State {
        var run: Run?
        /// Runs that are over, or about to be.
        var ending: [Task<Void, Never>] = []
        /// When it was started again.
        var restarts: [ContinuousClock.Instant] = []
        var wasStarted = false
        var failure: (any Error)?
        var info: MCPServerInfo?
        var tools: ToolListing?
        var listings = 0
        /// Those whose requests it works on, the newest with the largest number.
        var callers: [Int: Caller] = [:]
        var nextCaller = 0
        var (samplings, sampledTokens) = (0, 0)
        var notices: [String] = []
        var isClosed = false
    }

    /// One start of the server, until it has ended.
    private final class Run: Sendable {
        let client = Promise<MCPClient>()
        /// Known before the server has answered.
        let begun = Mutex<MCPClient?>(nil)
        let task = Mutex<Task<Void, Never>?>(nil)
    }

    /// A server that is not started yet.
    ///
    /// - Parameters:
    ///   - sampler: nil if it may ask no model.
    ///   - permit: throws if it may not be started now; asked at each start.
    ///   - changes: raised when it has other tools or another state.
    init(
        _ server: ConfiguredServer, _ surroundings: ServerSurroundings, log: ServerLog, sampler: Sampler?,
        permit: @escaping @Sendable () throws -> Void, changes: Signal
    ) {
        self.server = server
        self.surroundings = surroundings
        self.log = log
        self.sampler = sampler
        self.permit = permit
        self.changes = changes
    }

    // MARK: What is known without asking

    /// The server as it presents itself; nil until it has.
    public var info: MCPServerInfo? { state.withLock { $0.info } }

    /// What it is doing: `off` before it was needed, `starting`, `ok`, `failed`.
    public var status: Status {
        state.withLock { state in
            if let run = state.run { return run.client.isSettled ? .ok : .starting }
            return state.failure == nil ? .off : .failed
        }
    }

    /// Why it ended last.
    public var failure: (any Error)? { state.withLock { $0.failure } }

    /// What a server is doing.
    public enum Status: String, Choice {
        case off, starting, ok, failed
    }

    /// What the person should know and was not told yet.
    public func takeNotices() -> [String] {
        state.withLock { state in
            defer { state.notices = [] }
            return state.notices
        }
    }

    // MARK: Use

    /// Starts it if it does not run, and does something with it on behalf of a caller, who also answers its questions; nil
    /// if nobody does.
    public func use<Value: Sendable>(
        as caller: Caller?, _ body: (MCPClient) async throws -> Value
    ) async throws -> Value {
        let number = state.withLock { state in
            state.nextCaller += 1
            state.callers[state.nextCaller] = caller
            return state.nextCaller
        }
        defer { state.withLock { state in state.callers[number] = nil } }
        let run = try begin()
        let client = try await run.client.value()
        do { return try await body(client) } catch let error as MCPError where error.kind == .closed {
            // It is never asked again by itself, since it may have done what it was asked. The next one finds another.
            retire(run, because: error)
            throw error
        }
    }

    /// Starts it without waiting for it.
    public func start() {
        // Whoever needs it is told why it cannot be started.
        do { _ = try begin() } catch { log.write("martlet", AnyFailure(error).message) }
    }

    /// Its tools, which are asked for once, and again when it has told that they changed.
    public func tools(as caller: Caller?) async throws -> ToolListing {
        // What a server that runs has listed needs no more of it.
        if let known = state.withLock({ $0.run?.client.isSettled == true ? $0.tools : nil }) { return known }
        return try await use(as: caller) { client in
            let (known, number) = state.withLock { ($0.tools, $0.listings) }
            if let known { return known }
            let tools = ToolListing(number, try await client.tools())
            state.withLock { state in
                if state.listings == number { state.tools = tools }
            }
            return tools
        }
    }

    // MARK: Life

    private func begin() throws -> Run {
        let (run, pause) = try state.withLock { state throws(ServerError) -> (Run, Duration?) in
            if state.isClosed { throw gone("the program ends") }
            if let run = state.run { return (run, nil) }
            var pause = Duration.zero
            if state.wasStarted {
                let now = ContinuousClock.now
                state.restarts.removeAll { now - $0 > ServerLimits.restartTime }
                guard state.restarts.count < surroundings.limits.restarts else {
                    throw ServerError(
                        .unstable,
                        "\(shownName) has ended \(state.restarts.count + 1) times in ten minutes, which is the limit (mcp.restarts); "
                            + "the last time because: \(state.failure.map { AnyFailure($0).message } ?? "it was stopped")"
                    )
                }
                // The first is at once, since most servers end only once.
                pause = state.restarts.isEmpty ? .zero : .milliseconds(250) * (1 << min(state.restarts.count, 5))
                state.restarts.append(now)
            }
            state.wasStarted = true
            let run = Run()
            (state.run, state.tools) = (run, nil)
            state.listings += 1
            return (run, pause)
        }
        guard let pause else { return run }
        // It outlives whoever needed it first, and neither their rights nor their surroundings reach it: `close` awaits it.
        run.task.withLock { task in
            task = Task.detached { [self] in
                await Self.asOwner { await live(run, after: pause) }
            }
        }
        changes.raise()
        return run
    }

    /// Works with the rights of the person who set a server up or agreed to it, and without anybody to ask.
    public static func asOwner<Value>(_ work: () async throws -> Value) async rethrows -> Value {
        try await Caller.$current.withValue(.person(HeadlessInteraction())) { try await work() }
    }

    private func live(_ run: Run, after pause: Duration) async {
        do {
            if pause > .zero { try await ContinuousClock().sleep(for: pause) }
            try await connect(run)
            ended(run, nil)
        } catch {
            ended(run, error)
        }
    }

    private func connect(_ run: Run) async throws {
        let limits = surroundings.limits.client(for: server.entry)
        try permit()
        log.write("martlet", "starting: \(server.target)")
        switch server.entry.way {
        case .program(let command, let arguments):
            let program = try await surroundings.program(of: server, command, arguments)
            try await program.whileRunning(by: surroundings.launcher) { transport in
                defer { log.write("stderr", transport.messages) }
                let client = MCPClient(
                    of: server.name, over: transport, as: surroundings.identity, handler: self, limits: limits)
                try await serve(run, client)
            }
        case .address(let url):
            try await surroundings.reaching(server, at: url) { address, isThere in
                let client = address.client(
                    of: server.name, by: surroundings.http(), as: surroundings.identity, handler: self, limits: limits,
                    signIn: surroundings.signIn)
                try await serve(run, client, isThere)
            }
        }
    }

    private func serve(
        _ run: Run, _ client: MCPClient, _ isThere: @escaping @Sendable () -> Void = {}
    ) async throws {
        run.begun.withLock { $0 = client }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await client.run() }
            group.addTask { [self] in
                let info = try await client.server()
                isThere()
                state.withLock { $0.info = info }
                log.write(
                    "martlet",
                    "connected to \(info.identity.name) \(info.identity.version), \(info.version.rawValue)")
                run.client.settle(client)
                changes.raise()
            }
            try await group.waitForAll()
        }
    }

    private func ended(_ run: Run, _ error: (any Error)?) {
        let wasReady = run.client.isSettled
        log.write("martlet", "ended\(error.map { ": \(AnyFailure($0).message)" } ?? "")")
        state.withLock { state in
            if state.run === run {
                state.run = nil
                if !state.isClosed {
                    state.failure = error
                    if wasReady, let error {
                        state.notices.append("\(AnyFailure(error).message); it is started again when it is next needed")
                    }
                }
            }
        }
        run.client.settle(with: .failure(error ?? gone("it has ended")))
        changes.raise()
    }

    /// What is asked next starts the server anew.
    private func retire(_ run: Run, because error: any Error) {
        let task = run.task.withLock { $0 }
        let isCurrent = state.withLock { state in
            guard state.run === run else { return false }
            (state.run, state.failure) = (nil, error)
            if let task { state.ending.append(task) }
            return true
        }
        if isCurrent { run.begun.withLock { $0 }?.close() }
    }

    /// Ends it and waits for that. It cannot be used afterwards.
    public func close() async {
        let (run, ending) = state.withLock { state in
            state.isClosed = true
            return (state.run, state.ending)
        }
        if let run {
            // A server that has not answered yet is not waited for.
            if run.client.isSettled {
                run.begun.withLock { $0 }?.close()
            } else {
                run.task.withLock { $0 }?.cancel()
            }
            await run.task.withLock { $0 }?.value
        }
        for task in ending { await task.value }
    }

    private var shownName: String { "the MCP server \(PlainText.escape(server.name).quotedForMessage)" }

    private func gone(_ reason: String) -> ServerError {
        ServerError(.unstable, "\(shownName) is not there: \(reason)")
    }
}

extension LiveServer: MCPClientHandler {
    public var capabilities: MCPClientCapabilities {
        var offered = MCPClientCapabilities()
        (offered.roots, offered.forms, offered.addresses) = (true, true, true)
        offered.sampling = sampler != nil
        return offered
    }

    public func roots() async throws -> [MCPRoot] { [MCPRoot(AbsolutePath(server.folder))] }

    public func elicit(_ question: MCPElicitation) async throws -> MCPAnswer {
        guard let caller = newestCaller else {
            log.write("martlet", "it asked a question while nobody used it, which was not answered")
            return .cancel
        }
        return try await ServerForm(question, of: server.name).answer(from: caller.interaction) { notice($0) }
    }

    public func sample(_ request: MCPSampling) async throws -> MCPSampled {
        guard let sampler, let caller = newestCaller else {
            throw MCPError(.unsupported, "no model can be asked now, since nobody uses \(shownName)")
        }
        let limits = surroundings.limits
        // Counted before it is asked, or many at once would get past the limit.
        let excess = state.withLock { state -> String? in
            guard state.samplings < limits.samplingRequests else {
                return "\(limits.samplingRequests) requests, which is the limit (mcp.sampling-requests)"
            }
            guard state.sampledTokens < limits.samplingTokens else {
                return "\(limits.samplingTokens) tokens, which is the limit (mcp.sampling-tokens)"
            }
            state.samplings += 1
            return nil
        }
        if let excess {
            notice("\(shownName) has asked the model for \(excess), so it was refused")
            throw MCPError(.limit, "this program has answered \(excess)")
        }
        let (answer, tokens) = try await sampler(request, server.name, caller)
        state.withLock { $0.sampledTokens += tokens }
        return answer
    }

    public func changed(_ change: MCPChange) {
        if change == .tools {
            state.withLock { state in
                state.listings += 1
                state.tools = nil
            }
        }
        changes.raise()
    }

    public func log(_ entry: MCPLogEntry) {
        let text = entry.data.string ?? entry.data.text()
        log.write(entry.level.rawValue, entry.logger.map { "\($0): \(text)" } ?? text, isUrgent: false)
    }

    public func tell(_ problem: String) { log.write("martlet", problem, isUrgent: false) }

    private var newestCaller: Caller? {
        state.withLock { state in state.callers.max { $0.key < $1.key }?.value }
    }

    private func notice(_ text: String) {
        log.write("martlet", text)
        state.withLock { state in
            // A server that asks all the time must not fill the memory.
            if state.notices.count < 20 { state.notices.append(text) }
        }
    }
}
