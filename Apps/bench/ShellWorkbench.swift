import CommandLineFrontend
import FileKit
import Registry
import Screens
import Settings
import ShellFrontend

/// `bench shell-workbench …`: a program with the shell and screens that grow as fast as a benchmark wants, which no
/// feature of the product can without a server.
enum ShellWorkbench {
    static let word = "shell-workbench"

    /// - Parameter words: a command, such as `shell bench.log FILE RATE COUNT`.
    static func run(_ words: [String]) -> Int32 {
        CommandLineProgram(
            name: "bench", version: "1.0",
            features: [BuiltInFeature(ShellFeature.self), BuiltInFeature(BenchScreens.self)]
        ).run([word] + words)
    }
}

/// The screens to measure a shell with.
private struct BenchScreens: Feature {
    static let manifest = Manifest(id: "bench", summary: "Screens to measure a shell with", version: "1.0")

    init(_ settings: FeatureSettings) {}

    func register(in registry: inout RegistryBuilder) {
        registry.add(
            Screen("bench.log", "Log", .detail, Self.file, Self.rate, Self.count) { screen, file, rate, count in
                let feed = Feed<Log.Line>()
                try await screen.show(Block(.log(Log(feed))))
                var line = ""
                try await Self.stream(file, rate, count) { token in
                    let parts = token.split(separator: "\n", omittingEmptySubsequences: false)
                    line += parts[0]
                    feed.replaceLast(with: Log.Line(line))
                    for part in parts.dropFirst() {
                        line = String(part)
                        feed.append(Log.Line(line))
                    }
                }
                feed.append(Log.Line(TokenText.end))
                try await Task.sleep(for: .seconds(3_600))
            })
        registry.add(
            Screen("bench.transcript", "Transcript", .detail, Self.file, Self.rate, Self.count) {
                screen, file, rate, count in
                let feed = Feed<Transcript.Entry>()
                feed.append(Transcript.Entry("1", .person, "Write a lot"))
                feed.append(Transcript.Entry("2", .model, "", isOpen: true))
                try await screen.show(Block(.transcript(Transcript(feed))))
                var text = ""
                try await Self.stream(file, rate, count) { token in
                    text += token
                    feed.replaceLast(with: Transcript.Entry("2", .model, text, isOpen: true))
                }
                feed.replaceLast(with: Transcript.Entry("2", .model, "\(text)\n\n\(TokenText.end)"))
                try await Task.sleep(for: .seconds(3_600))
            })
        registry.add(
            Screen("bench.million", "A million lines", .detail, Self.file) { screen, file in
                let text = String(decoding: try Files.read(file, limit: 1 << 28), as: UTF8.self)
                let lines = text.split(separator: "\n").map { Log.Line(String($0)) }
                let feed = Feed<Log.Line>(mostEntries: lines.count + 1, mostBytes: 1 << 30)
                feed.append(lines)
                try await screen.show(Block(.log(Log(feed))))
            })
    }

    private static let file = Parameter<String>.argument("file", "The file with the text")
    private static let rate = Parameter<Int>.argument("rate", "How many tokens come each second")
    private static let count = Parameter<Int>.argument("count", "How many tokens come, of the text again and again")

    /// Sends tokens one by one: every 5 ms those that are due, after a second in which whoever measures gets ready.
    private static func stream(_ file: String, _ rate: Int, _ count: Int, _ send: (String) -> Void) async throws {
        let tokens = try TokenText.tokens(of: file)
        try await Task.sleep(for: .seconds(1))
        let start = ContinuousClock.now
        var sent = 0
        while sent < count {
            try await Task.sleep(for: .milliseconds(5))
            let due = min(count, Int((ContinuousClock.now - start) / .seconds(1) * Double(rate)))
            while sent < due {
                send(tokens[sent % tokens.count])
                sent += 1
            }
        }
    }
}

/// The text of the streams: tokens of five bytes, in lines that fit on 80 columns and paragraphs of six lines. It has no
/// capital letters, so that one is found in the output wherever it is painted.
enum TokenText {
    /// What follows the text.
    static let end = "ZQZQZQZQ"
    /// The bytes of a token.
    static let tokenSize = 5

    static func write(tokens count: Int, to file: String) throws {
        var generator = RepeatableNumbers()
        var bytes: [UInt8] = []
        var lines = 0
        while bytes.count < count * tokenSize {
            let size = 52 + generator.next() % 20
            for place in 0..<size {
                let isGap = place % 6 == 5
                bytes.append(isGap ? UInt8(ascii: " ") : UInt8(ascii: "a") + UInt8(generator.next() % 20))
            }
            lines += 1
            bytes += lines % 6 == 0 ? [0x0A, 0x0A] : [0x0A]
        }
        try Files.writeAtomically(Array(bytes.prefix(count * tokenSize)), to: file)
    }

    static func tokens(of file: String) throws -> [String] {
        let bytes = try Files.read(file, limit: 1 << 28)
        return stride(from: 0, to: bytes.count, by: tokenSize).map { start in
            String(decoding: bytes[start..<min(start + tokenSize, bytes.count)], as: UTF8.self)
        }
    }

    /// Numbers that are the same in every run.
    private struct RepeatableNumbers {
        private var state: UInt64 = 1

        mutating func next() -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33)
        }
    }
}
