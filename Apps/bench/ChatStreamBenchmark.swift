import HTTPTesting
import LoopKit

/// One answer of 200,000 chunks, each sent by itself, and read by the whole program, by `curl -N`, which only receives
/// them, and by the openai client; all write to /dev/null. The times are those of whole processes.
enum ChatStreamBenchmark {
    private static let count = 200_000
    private static let fewer = 20_000

    static func run() async throws -> [Figure] {
        try await TemporaryDirectory.run { folder in
            let server = "\(folder)/answer_chunks"
            try Peers.build("answer_chunks.c", to: server)
            let program = try MartletProgram(in: folder)
            let each = try await ChunkServer.run(server, chunks: count, sending: .each) { port in
                let pair = try await compare(program, port)
                let openai = try await Peers.processorTime(
                    Peers.python, [Peers.path("stream_openai.py"), "http://127.0.0.1:\(port)/v1"])
                return (pair, openai: openai / .seconds(1), memory: try await peakMemory(program, port))
            }
            let bulk = try await ChunkServer.run(server, chunks: count, sending: .bulk) { port in
                try await compare(program, port)
            }
            let fewerMemory = try await ChunkServer.run(server, chunks: fewer, sending: .each) { port in
                try await peakMemory(program, port)
            }
            let (ours, curl) = each.0
            return [
                Figure("200,000 chunks, processor time: martlet ask / curl -N", ours / curl, "ratio", .atMost(0.25)),
                Figure(
                    "200,000 chunks, processor time: openai client / martlet ask", each.openai / ours, "ratio",
                    .atLeast(20)),
                Figure(
                    "most memory with 200,000 chunks, more than with 20,000", Double(each.memory - fewerMemory) / 1e6,
                    "MB",
                    .atMost(8)),
                Figure("martlet ask", ours, "s"),
                Figure("curl -N", curl, "s"),
                Figure("openai client", each.openai, "s"),
                Figure("most memory of martlet ask with 200,000 chunks", Double(each.memory) / 1e6, "MB"),
                Figure("many chunks in each send: martlet ask / curl -N", bulk.ours / bulk.curl, "ratio"),
                Figure("many chunks in each send: martlet ask", bulk.ours, "s"),
            ]
        }
    }

    /// The best of ten rounds in turns, because a machine's speed drifts.
    private static func compare(_ program: MartletProgram, _ port: Int) async throws -> (ours: Double, curl: Double) {
        var best = (ours: Double.infinity, curl: Double.infinity)
        for _ in 0..<10 {
            let ours = try await Peers.processorTime(
                MartletProgram.path, question, variables: program.variables(port: port))
            let curl = try await Peers.processorTime(
                "curl",
                [
                    "-sN", "-o", "/dev/null", "-d", #"{"model":"gpt-5-mini"}"#,
                    "http://127.0.0.1:\(port)/v1/chat/completions",
                ])
            best = (min(best.ours, ours / .seconds(1)), min(best.curl, curl / .seconds(1)))
        }
        return best
    }

    /// The middle of three, because a run takes a megabyte more or less.
    private static func peakMemory(_ program: MartletProgram, _ port: Int) async throws -> Int {
        try await onOwnThread {
            Result {
                try (0..<3).map { _ in
                    try Child.peakMemory(MartletProgram.path, question, variables: program.variables(port: port))
                }.sorted()[1]
            }
        }.get()
    }

    private static let question = ["ask", "--no-save", "Count"]
}
