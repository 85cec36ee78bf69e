import Capabilities
import CoreTesting
import Glibc
import HTTPTesting
import JSON
import ToolKit

/// `grep.search` in a gigabyte of 50,000 files against ripgrep, alternating: texts and expressions of several kinds.
enum GrepBenchmark {
    private static let folders = 500
    private static let filesPerFolder = 100
    private static let size = 1 << 30
    private static let rounds = 5

    private struct Search {
        let about: String
        let pattern: String
        var ignoresCase = false
    }

    private static let searches = [
        Search(about: "a text", pattern: "needle_4"),
        Search(about: "a text without case", pattern: "zeppelin", ignoresCase: true),
        Search(about: "a text within", pattern: #"[A-Z]\w+ppelin"#),
        Search(about: "a choice", pattern: "(airship|needle_)[0-9]+"),
        Search(about: "a choice without case", pattern: "(zeppelin|airship) here", ignoresCase: true),
        Search(about: "a run of letters", pattern: #"\b\w{30}\b"#),
        Search(about: "nothing to look for first", pattern: #"^\s*[a-z]+[0-9]\s"#),
    ]

    static func run() async throws -> [Figure] {
        try await TemporaryDirectory.run { folder in
            try make(folder)
            let tools = WorkspaceTools(try Workspace(folder))
            var figures: [Figure] = []
            for search in searches {
                let (ours, theirs) = try await measure(search, tools, folder)
                figures.append(Figure("\(search.about) / ripgrep", ours / theirs, "ratio", .atMost(1)))
                figures.append(Figure("\(search.about)", ours * 1000, "ms"))
            }
            return figures
        }
    }

    /// The best of some rounds for each, in seconds, after one that fills the cache. Both must find the same.
    private static func measure(
        _ search: Search, _ tools: WorkspaceTools, _ folder: String
    ) async throws -> (ours: Double, theirs: Double) {
        let call = ToolCall(
            id: "1", name: "grep.search",
            input: ["pattern": .string(search.pattern), "ignore_case": .bool(search.ignoresCase), "limit": 5000])
        let words =
            ["--no-config", "-n", "--no-heading"] + (search.ignoresCase ? ["-i"] : []) + [search.pattern, folder]
        let theirLines = try await Peers.output("sh", ["-c", "rg \"$@\" || true", "sh"] + words).split(separator: "\n")
        let found = try await tools.run(call)
        let ourLines = found.content.split(separator: "\n").filter { !$0.hasPrefix("[") }
        guard ourLines.count == theirLines.count, !found.isError else {
            throw BenchmarkError("\(search.about): \(ourLines.count) lines, ripgrep has \(theirLines.count)")
        }
        var best = (ours: Double.infinity, theirs: Double.infinity)
        for _ in 0..<rounds {
            let start = ContinuousClock.now
            _ = try await tools.run(call)
            best.ours = min(best.ours, (ContinuousClock.now - start) / .seconds(1))
            // It exits with 1 if it finds nothing.
            let theirs = try await Peers.time("sh", ["-c", "rg \"$@\" || true", "sh"] + words)
            best.theirs = min(best.theirs, theirs / .seconds(1))
        }
        return best
    }

    /// Files of all sizes with lines similar to source code, and here and there a matching one.
    private static func make(_ folder: String) throws {
        var words = MessageWords(seed: 17)
        let blocks = (0..<400).map { _ in
            var block = ""
            for line in 0..<60 {
                block += String(repeating: "    ", count: line % 4)
                for _ in 0..<(3 + line % 7) { block += words.word() + " " }
                block += line % 9 == 0 ? "\n" : "{ value(\(line)) }\n"
            }
            return Array(block.utf8)
        }
        var random = UInt64(42)
        func next(_ limit: Int) -> Int {
            random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(random >> 33) % limit
        }
        let mean = size / (folders * filesPerFolder)
        for number in 0..<(folders * filesPerFolder) {
            if number % filesPerFolder == 0 {
                guard unsafe mkdir("\(folder)/d\(number / filesPerFolder)", 0o700) == 0 else {
                    throw BenchmarkError("cannot make folders in \(folder)")
                }
            }
            // Most files are small and some are large, as in a real tree.
            let size = mean / 4 + (number % 10 == 0 ? next(mean * 9) : next(mean / 2) + mean / 12)
            var text: [UInt8] = []
            while text.count < size { text += blocks[next(blocks.count)] }
            if number % 1000 == 0 { text += "needle_\(number) Zeppelin here\n".utf8 }
            let path = "\(folder)/d\(number / filesPerFolder)/f\(number % filesPerFolder).swift"
            guard let file = unsafe fopen(path, "w") else { throw BenchmarkError("cannot write \(path)") }
            defer { unsafe fclose(file) }
            guard unsafe fwrite(text, 1, text.count, file) == text.count else {
                throw BenchmarkError("there is no room for a gigabyte in \(folder)")
            }
        }
    }
}
