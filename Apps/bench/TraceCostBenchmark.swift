import CoreTesting
import FileKit

/// The processor time of whole processes that record what they do, files and database included, against the same ones with
/// `trace.record` off.
enum TraceCostBenchmark {
    private static let steps = 10_000
    private static let chunks = 200_000

    static func run() async throws -> [Figure] {
        try await TemporaryDirectory.run { folder in
            let homes = try Homes(in: folder)
            return try await commands(homes, folder) + [chat(homes, folder)] + gateway(homes, folder)
        }
    }

    // MARK: Commands

    private static func commands(_ homes: Homes, _ folder: String) async throws -> [Figure] {
        let empty = "name: empty\nsteps: [{action: run.no-op}]\n"
        let many = "name: many\nsteps:\n" + String(repeating: "  - {action: run.no-op}\n", count: steps)
        try Files.writeAtomically(Array(empty.utf8), to: "\(folder)/empty.yaml")
        try Files.writeAtomically(Array(many.utf8), to: "\(folder)/many.yaml")
        let version = try await compare(homes, rounds: 400, ["version"])
        // More than the files of processes that may wait, so that some of them are taken to the database.
        let list = try await compare(homes, rounds: 450, ["config", "show"])
        let small = try await compare(homes, rounds: 450, ["run", "\(folder)/empty.yaml"])
        let large = try await compare(homes, rounds: 11, ["run", "\(folder)/many.yaml"])
        return [
            Figure("martlet version, recording / not", version.median, "ratio", .atMost(1.02)),
            Figure("martlet config show, recording / not", list.median, "ratio", .atMost(1.05)),
            Figure("martlet config show, all runs together", list.whole, "ratio"),
            Figure("a bundle of one step, recording / not", small.median, "ratio", .atMost(1.05)),
            Figure("a bundle of one step, all runs together", small.whole, "ratio"),
            Figure("a bundle of \(steps) steps, recording / not", large.median, "ratio", .atMost(1.05)),
            Figure("martlet version, not recording", version.off * 1000, "ms"),
            Figure("martlet config show, not recording", list.off * 1000, "ms"),
            Figure("a bundle of one step, not recording", small.off * 1000, "ms"),
            Figure("a bundle of \(steps) steps, not recording", large.off * 1000, "ms"),
        ]
    }

    private static func compare(_ homes: Homes, rounds: Int, _ arguments: [String]) async throws -> Ratios {
        try await Ratios.alternating(rounds: rounds) { isRecording in
            try await Peers.processorTime(
                MartletProgram.path, arguments, variables: ["MARTLET_HOME": homes[isRecording]]) / .seconds(1)
        }
    }

    // MARK: A model's answer

    private static func chat(_ homes: Homes, _ folder: String) async throws -> Figure {
        let server = "\(folder)/answer_chunks"
        try Peers.build("answer_chunks.c", to: server)
        let ratios = try await ChunkServer.run(server, chunks: chunks, sending: .each) { port in
            try await Ratios.alternating(rounds: 15) { isRecording in
                let variables = MartletProgram.server(port: port).merging(["MARTLET_HOME": homes[isRecording]]) { $1 }
                return try await Peers.processorTime(
                    MartletProgram.path, ["ask", "--no-save", "Count"], variables: variables) / .seconds(1)
            }
        }
        return Figure("an answer of \(chunks) chunks, recording / not", ratios.median, "ratio", .atMost(1.05))
    }

    // MARK: Requests to the gateway

    private static func gateway(_ homes: Homes, _ folder: String) async throws -> [Figure] {
        let completions = try GatewayLoad.completions(in: folder)
        return try await GatewayServer.martlet(home: homes[true]) { on in
            try await GatewayServer.martlet(home: homes[false]) { off in
                func compare(_ request: [String]) async throws -> Ratios {
                    try await Ratios.alternating(rounds: 5) { isRecording in
                        try await GatewayLoad.under(request, isRecording ? on : off).cost
                    }
                }
                let health = try await compare(["http://127.0.0.1:PORT/health"])
                let models = try await compare(["http://127.0.0.1:PORT/v1/models"])
                let completion = try await compare(completions)
                return [
                    Figure("/health, recording / not", health.median, "ratio", .atMost(1.05)),
                    Figure("/v1/models, recording / not", models.median, "ratio", .atMost(1.05)),
                    Figure("completion with its rows, recording / not", completion.median, "ratio", .atMost(1.05)),
                    Figure("/v1/models, not recording", models.off * 1e6, "us"),
                    Figure("completion with its rows, not recording", completion.off * 1e6, "us"),
                ]
            }
        }
    }

    // MARK: Comparing

    /// Two homes of the program that differ in one setting only.
    private struct Homes {
        private let folder: String

        init(in folder: String) throws {
            self.folder = folder
            for isRecording in [true, false] {
                try Files.makeDirectories("\(self[isRecording])/config")
                let settings = #"{"chat": {"model": "openai/gpt-5-mini"}, "trace": {"record": \#(isRecording)}}"#
                try Files.writeAtomically(Array(settings.utf8), to: "\(self[isRecording])/config/config.json")
            }
        }

        subscript(isRecording: Bool) -> String { "\(folder)/home-\(isRecording ? "on" : "off")" }
    }

    /// What recording costs.
    private struct Ratios {
        /// The median of the pairs, each of which was measured at about the same speed of the machine.
        let median: Double
        /// The ratio of the sums.
        let whole: Double
        /// The median of what does not record.
        let off: Double

        static func alternating(rounds: Int, _ measure: (_ isRecording: Bool) async throws -> Double) async throws
            -> Ratios
        {
            var pairs: [(on: Double, off: Double)] = []
            for round in -1..<rounds {
                // Who comes second may find warmer caches, so that each does as often.
                let first = try await measure(round.isMultiple(of: 2))
                let second = try await measure(!round.isMultiple(of: 2))
                // The first round creates folders.
                guard round >= 0 else { continue }
                pairs.append(round.isMultiple(of: 2) ? (first, second) : (second, first))
            }
            func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }
            return Ratios(
                median: median(pairs.map { $0.on / $0.off }),
                whole: pairs.reduce(0) { $0 + $1.on } / pairs.reduce(0) { $0 + $1.off }, off: median(pairs.map(\.off)))
        }
    }
}
