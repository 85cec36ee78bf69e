import FileKit
import ProcessKit

/// The server of `answer_chunks.c`, for the length of some work.
enum ChunkServer {
    /// How chunks leave it: each in a system call of its own, or many together.
    enum Sending: String {
        case each, bulk
    }

    static func run<Result>(
        _ path: String, chunks: Int, sending: Sending, isolation: isolated (any Actor)? = #isolation,
        _ body: (_ port: Int) async throws -> Result
    ) async throws -> Result {
        let command = Command(
            path, ["\(chunks)", sending.rawValue], environment: CommandEnvironment(Environment.snapshot()))
        return try await Launcher.standalone.withChild(command, grace: .milliseconds(200)) { child in
            guard let line = try await child.output.nextLine(), let port = Int(String(decoding: line, as: UTF8.self))
            else { throw BenchmarkError("the server of chunks did not start") }
            return try await body(port)
        }
    }
}
