import FileKit
import HTTPTesting

/// 2,000 streams at once of 100 frames each: what they cost our gateway and the one of `gateway_fastapi.py`, where the
/// same pause lies between two frames and the same rows are committed at the end of each stream. FastAPI's own
/// server-sent events do what ours do; those that are put together by hand, without signs of life, are told for comparison.
enum GatewayStreamsBenchmark {
    private static let count = 2000

    static func run() async throws -> [Figure] {
        try await TemporaryDirectory.run { folder in
            let ours = try await GatewayServer.pausing(folder: folder) {
                try await measure($0, "/v1/chat/completions")
            }
            // A process for each: the second would find the memory that the first has left.
            let theirs = try await GatewayServer.fastAPI(folder: folder) {
                try await measure($0, "/v1/streams/framework")
            }
            let bare = try await GatewayServer.fastAPI(folder: folder) { try await measure($0, "/v1/streams/bare") }
            return [
                Figure(
                    "2,000 streams, processor time: martlet / FastAPI", ours.time / theirs.time, "ratio",
                    .atMost(0.2)),
                Figure("memory of a stream: martlet / FastAPI", ours.memory / theirs.memory, "ratio", .atMost(0.2)),
                Figure("processor time: martlet / FastAPI by hand", ours.time / bare.time, "ratio"),
                Figure("memory of a stream: martlet / FastAPI by hand", ours.memory / bare.memory, "ratio"),
            ] + figures("martlet", ours) + figures("FastAPI", theirs) + figures("FastAPI by hand", bare)
        }
    }

    private static func figures(_ name: String, _ cost: Cost) -> [Figure] {
        let frames = Double(count * GatewayServer.frames)
        return [
            Figure("processor time of a frame, \(name)", cost.time / frames * 1e6, "us"),
            Figure("memory of a stream, \(name)", cost.memory, "bytes"),
            Figure("until the last stream has ended, \(name)", cost.wall, "s"),
        ]
    }

    /// Seconds of processor time for all streams, bytes for each, and seconds until all have ended.
    private typealias Cost = (time: Double, memory: Double, wall: Double)

    private static func measure(_ server: GatewayServer, _ path: String) async throws -> Cost {
        // The first ones grow what is kept for all.
        try await read(100, server, path)
        let before = try server.residentBytes()
        let used = try server.processorTime()
        let start = ContinuousClock.now
        // Awaited below, whatever comes of the reading.
        let watch = Task { try await mostMemory(of: server) }
        let reading: Result<Void, any Error>
        do { reading = .success(try await read(count, server, path)) } catch { reading = .failure(error) }
        let end = ContinuousClock.now
        watch.cancel()
        let memory = Double(try await watch.value - before) / Double(count)
        try reading.get()
        let time = try server.processorTime() - used
        return (time / .seconds(1), memory, (end - start) / .seconds(1))
    }

    /// The most memory that the server has at a time, until the task is cancelled.
    private static func mostMemory(of server: GatewayServer) async throws -> Int {
        var most = 0
        while !Task.isCancelled {
            most = max(most, try server.residentBytes())
            // Cut short at the end, which the loop looks for.
            do { try await Task.sleep(for: .milliseconds(100)) } catch {}
        }
        return most
    }

    /// Reads streams to their ends, and throws when a frame is missing.
    private static func read(_ count: Int, _ server: GatewayServer, _ path: String) async throws {
        let arguments = [
            Peers.path("gateway_streams.py"), "\(server.port)", path, GatewayServer.token, "\(count)",
            "\(GatewayServer.frames)",
        ]
        let report = try await Peers.output(Peers.python, arguments)
        guard report == "whole\n" else { throw BenchmarkError("streams broke off: \(report)") }
    }
}
