import FileKit
import HTTPTesting
import Synchronization

/// 2,000 streams at once of 100 frames each: what they cost our gateway and the one of `gateway_fastapi.py`, where the
/// same pause lies between two frames and the same rows are committed at the end of each stream.
enum GatewayStreamsBenchmark {
    private static let count = 2000

    static func run() async throws -> [Figure] {
        try await TemporaryDirectory.run { folder in
            let ours = try await GatewayServer.pausing(folder: folder) { try await measure($0) }
            let theirs = try await GatewayServer.fastAPI(folder: folder) { try await measure($0) }
            let frames = Double(count * GatewayServer.frames)
            return [
                Figure(
                    "2,000 streams, processor time: martlet / FastAPI", ours.time / theirs.time, "ratio", .atMost(0.2)),
                Figure("memory of a stream: martlet / FastAPI", ours.memory / theirs.memory, "ratio", .atMost(0.1)),
                Figure("processor time of a frame, martlet", ours.time / frames * 1e6, "us"),
                Figure("processor time of a frame, FastAPI", theirs.time / frames * 1e6, "us"),
                Figure("memory of a stream, martlet", ours.memory, "bytes"),
                Figure("memory of a stream, FastAPI", theirs.memory, "bytes"),
                Figure("until the last stream has ended, martlet", ours.wall, "s"),
                Figure("until the last stream has ended, FastAPI", theirs.wall, "s"),
            ]
        }
    }

    /// Seconds of processor time for all streams, bytes for each, and seconds until all have ended.
    private typealias Cost = (time: Double, memory: Double, wall: Double)

    private static func measure(_ server: GatewayServer) async throws -> Cost {
        // The first ones grow what is kept for all.
        try await read(100, server)
        let before = try server.residentBytes()
        let used = try server.processorTime()
        let start = ContinuousClock.now
        let peak = Mutex(0)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                while true {
                    let bytes = try server.residentBytes()
                    peak.withLock { $0 = max($0, bytes) }
                    do { try await Task.sleep(for: .milliseconds(100)) } catch { return }
                }
            }
            try await read(count, server)
            group.cancelAll()
        }
        let wall = ContinuousClock.now - start
        let time = try server.processorTime() - used
        let memory = Double(peak.withLock { $0 } - before) / Double(count)
        return (time / .seconds(1), memory, wall / .seconds(1))
    }

    /// Reads streams to their ends, and throws when a frame is missing.
    private static func read(_ count: Int, _ server: GatewayServer) async throws {
        let arguments = [
            Peers.path("gateway_streams.py"), "\(server.port)", GatewayServer.token, "\(count)",
            "\(GatewayServer.frames)",
        ]
        let report = try await Peers.output(Peers.python, arguments)
        guard report == "whole\n" else { throw BenchmarkError("streams broke off: \(report)") }
    }
}
