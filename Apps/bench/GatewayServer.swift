import Capabilities
import CoreTesting
import FileKit
import GatewayAPI
import GatewayStore
import GatewayTurns
import Glibc
import HTTPCore
import HTTPServer
import JSON
import ProcessKit
import Synchronization

/// A server under test in its own process: our gateway, the same with a slow model, or `gateway_fastapi.py`.
struct GatewayServer {
    static let token = "benchmark-token-0123456789"
    /// The number of frames of a stream, and the time between two.
    static let frames = 100
    static let pause = Duration.milliseconds(50)

    let port: Int
    let process: Int32

    /// The processor time that all threads of the server have used so far.
    func processorTime() throws -> Duration {
        var clock = clockid_t()
        var time = timespec()
        guard unsafe clock_getcpuclockid(process, &clock) == 0, unsafe clock_gettime(clock, &time) == 0 else {
            throw BenchmarkError("the server is gone")
        }
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    /// Its resident memory in bytes.
    func residentBytes() throws -> Int { try TestProcess.residentBytes(of: process) }

    // MARK: Running

    /// The real program, as `martlet gateway serve` runs it.
    static func martlet<Result>(
        home: String, variables: [String: String] = [:], isolation: isolated (any Actor)? = #isolation,
        _ body: (GatewayServer) async throws -> Result
    ) async throws -> Result {
        let own = ["MARTLET_HOME": home, "MARTLET_GATEWAY_TOKEN": token]
        let arguments = ["gateway", "serve", "--port", "0", "--format", "ndjson"]
        return try await run(MartletProgram.path, arguments, own.merging(variables) { $1 }, during: body) { line in
            let address = try JSON(parsing: line)["addresses"]?.array?.first?.string
            return address?.split(separator: ":").last.flatMap { Int($0) }
        }
    }

    /// The gateway's modules with a model that pauses, in another process of this program.
    static func pausing<Result>(
        folder: String, isolation: isolated (any Actor)? = #isolation, _ body: (GatewayServer) async throws -> Result
    ) async throws -> Result {
        try await run("/proc/self/exe", [GatewayStreamsServer.word, folder], [:], during: body) { Self.number($0) }
    }

    /// The same routes written with FastAPI.
    static func fastAPI<Result>(
        folder: String, isolation: isolated (any Actor)? = #isolation, _ body: (GatewayServer) async throws -> Result
    ) async throws -> Result {
        let arguments = [
            Peers.path("gateway_fastapi.py"), "\(folder)/peer.db", token, "\(frames)", "\(pause / .seconds(1))",
        ]
        return try await run(Peers.python, arguments, [:], during: body) { Self.number($0) }
    }

    private static func number(_ line: [UInt8]) -> Int? { Int(String(decoding: line, as: UTF8.self)) }

    private static func run<Result>(
        _ program: String, _ arguments: [String], _ variables: [String: String],
        isolation: isolated (any Actor)? = #isolation, during body: (GatewayServer) async throws -> Result,
        port: ([UInt8]) throws -> Int?
    ) async throws -> Result {
        let environment = Environment.snapshot().merging(variables) { $1 }
        let command = Command(program, arguments, environment: CommandEnvironment(environment))
        return try await Launcher.standalone.withChild(command, grace: .seconds(2)) { child in
            guard let line = try await child.output.nextLine(), let port = try port(line) else {
                throw BenchmarkError("\(program) did not start: \(String(decoding: child.errorTail, as: UTF8.self))")
            }
            return try await body(GatewayServer(port: port, process: child.processID))
        }
    }
}

/// The real gateway in its own process, but with a model that pauses between words.
enum GatewayStreamsServer {
    /// The first argument that makes the program this server; the second is its data folder.
    static let word = "gateway-streams-server"

    static func run(_ folder: String) async throws {
        let now: @Sendable () -> Timestamp = Timestamp.now
        let store = GatewayStore(GatewayStore.database(at: "\(folder)/gateway.db"), now: now)
        let pulse = Pulse()
        let turns = Turns(store: store, providers: { [PausingModel(pulse)] }, now: now)
        let services = APIServices(
            store: store, turns: turns, folders: ProjectFolders(home: folder), version: "1.0.0", now: now)
        var configuration = ServerConfiguration()
        configuration.adopt(services)
        configuration.authenticate = { head in
            head.headers["Authorization"] == "Bearer \(GatewayServer.token)" ? Principal("token") : nil
        }
        async let beating: Void = pulse.beat()
        try await HTTPServer(Routes(gatewayRoutes(services)), configuration).run { addresses in
            print(addresses.first?.port ?? 0)
            fflush(nil)
        }
        await beating
    }
}

/// A model that sends a number of words, with a pause before each.
private final class PausingModel: ModelProvider {
    let id = "pausing"
    let name = "A model that pauses"
    private let pulse: Pulse

    init(_ pulse: Pulse) {
        self.pulse = pulse
    }

    func isAvailable() async -> Bool { true }
    func models() async throws -> [ModelDescription] { [ModelDescription(id: "words", provider: id)] }

    func answer(
        _ request: ChatRequest, _ receive: ([ChatEvent]) async throws -> Void
    ) async throws -> ChatAnswer {
        let start = ChatStart(model: "words")
        try await receive([.began(start)])
        for number in 0..<GatewayServer.frames {
            await pulse.next()
            try Task.checkCancellation()
            try await receive([.text("word\(number) ")])
        }
        let usage = Usage(inputTokens: 2, outputTokens: 2 * GatewayServer.frames, cost: Cost(nanodollars: 0))
        try await receive([.usage(usage)])
        return ChatAnswer(start: start, message: Message(.assistant, "words"), finish: .stop, usage: usage)
    }
}

/// One timer for all streams, so that pauses cost as little as possible.
private final class Pulse: Sendable {
    private let waiting = Mutex<[CheckedContinuation<Void, Never>]>([])

    func next() async {
        await withCheckedContinuation { continuation in
            waiting.withLock { $0.append(continuation) }
        }
    }

    /// Ticks until the task is cancelled.
    func beat() async {
        while !Task.isCancelled {
            do { try await Task.sleep(for: GatewayServer.pause) } catch { return }
            let woken = waiting.withLock { waiting in
                defer { waiting = [] }
                return waiting
            }
            for continuation in woken { continuation.resume() }
        }
    }
}
