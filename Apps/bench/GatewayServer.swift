import FileKit
import Glibc
import JSON
import ProcessKit

/// A server under test in a process of its own: our gateway, the same with a slow model, or the one of
/// `gateway_fastapi.py`.
struct GatewayServer {
    static let token = "benchmark-token-0123456789"
    /// How many frames a stream has, and the time between two.
    static let frames = 100
    static let pause = Duration.milliseconds(50)

    let port: Int
    let process: Int32

    /// Everything the server has used on the processors until now, by all of its threads.
    func processorTime() throws -> Duration {
        var clock = clockid_t()
        var time = timespec()
        guard unsafe clock_getcpuclockid(process, &clock) == 0, unsafe clock_gettime(clock, &time) == 0 else {
            throw BenchmarkError("the server is gone")
        }
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    /// The bytes that it has in memory now.
    func residentBytes() throws -> Int {
        let text = String(decoding: try Files.read("/proc/\(process)/statm", limit: 4096), as: UTF8.self)
        let pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) }
        guard let pages else { throw BenchmarkError("/proc/PID/statm is not as expected: \(text)") }
        return pages * Int(getpagesize())
    }

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

    /// The gateway's modules with a model that pauses, in this program once more.
    static func pausing<Result>(
        folder: String, isolation: isolated (any Actor)? = #isolation, _ body: (GatewayServer) async throws -> Result
    ) async throws -> Result {
        try await run("/proc/self/exe", [GatewayStreamsServer.word, folder], [:], during: body) { Self.number($0) }
    }

    /// The same routes as one writes them with FastAPI.
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
