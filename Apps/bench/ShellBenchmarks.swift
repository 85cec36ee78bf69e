import CoreTesting
import FileKit
import Glibc

/// From the start of the shell to the first rows of a list, against a Textual program with the same rows.
enum ShellStartBenchmark {
    private static let rounds = 30

    static func run() async throws -> [Figure] {
        try Peers.checkTextual()
        return try await TemporaryDirectory.run { folder in
            let list = try ConversationList(in: folder)
            let (ours, theirs) = (Times(), Times())
            for round in -3..<rounds {
                let martlet = try TerminalProgram(
                    MartletProgram.path, ["shell", "chat.conversations"], variables: list.variables)
                try ours.take(martlet, list.newest, isCounted: round >= 0)
                martlet.end()
                let textual = try TerminalProgram(Peers.python, [Peers.path("textual_list.py"), list.rows])
                try theirs.take(textual, list.newest, isCounted: round >= 0)
                textual.end()
            }
            return [
                Figure("to the rows of a list, martlet", ours.rows.median * 1000, "ms", .atMost(30)),
                Figure("martlet / Textual", ours.rows.median / theirs.rows.median, "ratio", .atMost(0.2)),
                Figure("Textual", theirs.rows.median * 1000, "ms"),
                Figure("to the first byte, martlet", ours.byte.median * 1000, "ms"),
                Figure("to the first byte, Textual", theirs.byte.median * 1000, "ms"),
                Figure("processor time to the rows, martlet", ours.processor.median * 1000, "ms"),
                Figure("processor time to the rows, Textual", theirs.processor.median * 1000, "ms"),
            ]
        }
    }

    private final class Times {
        private(set) var (rows, byte, processor) = (Samples(), Samples(), Samples())

        func take(_ program: TerminalProgram, _ row: String, isCounted: Bool) throws {
            let shown = try program.wait(for: row)
            guard isCounted, let first = program.firstByte else { return }
            rows.add(shown - program.start)
            byte.add(first - program.start)
            processor.add(try program.processorTime)
        }
    }
}

/// A home with 100 conversations.
struct ConversationList {
    private static let count = 100

    let variables: [String: String]
    /// The title of the first row.
    let newest = "Question-\(count)"
    /// A file with the rows.
    let rows: String

    init(in folder: String) throws {
        variables = ["MARTLET_HOME": "\(folder)/home"]
        let (program, set) = (MartletProgram.path, "MARTLET_HOME=\(folder)/home")
        let asks = "for n in $(seq \(Self.count)); do \(program) ask Question-$n 2>/dev/null || exit; done"
        _ = try Child.output("env", [set, "sh", "-c", asks])
        let lines = try Child.output("env", [set, program, "chat", "list", "--limit", "\(Self.count)"])
        rows = "\(folder)/rows"
        try Files.writeAtomically(Array(lines.utf8), to: rows)
    }
}

/// A screen with a growing text: of the shell, and of a Textual program.
struct StreamProgram {
    enum Kind: String {
        case log, markdown
    }

    private let path: String
    private let arguments: [String]
    private let variables: [String: String]
    private let ready: String
    /// What leads to a line to type in.
    private let typing: String

    static func ours(_ kind: Kind, _ text: String, rate: Int, count: Int, home: String) -> StreamProgram {
        StreamProgram(
            path: "/proc/self/exe",
            arguments: [
                ShellWorkbench.word, "shell", kind == .log ? "bench.log" : "bench.transcript", text, "\(rate)",
                "\(count)",
            ],
            variables: ["MARTLET_HOME": home], ready: kind == .log ? "No lines yet" : "Write a lot", typing: "/")
    }

    static func textual(_ kind: Kind, _ text: String, rate: Int, count: Int) -> StreamProgram {
        StreamProgram(
            path: Peers.python,
            arguments: [Peers.path("textual_stream.py"), kind.rawValue, text, "\(rate)", "\(count)"],
            variables: [:],
            // The first letter is under the cursor.
            ready: "eady", typing: "")
    }

    /// What a stream costs.
    struct Cost {
        let processor: Double
        let bytes: Double
        let frames: Double
        let seconds: Double
    }

    /// From the first frame to the last token on the screen.
    func cost() throws -> Cost {
        let program = try start()
        let (begun, used) = (ContinuousClock.now, try program.processorTime)
        program.forget()
        let end = try program.wait(for: TokenText.end, limit: .seconds(240))
        return Cost(
            processor: (try program.processorTime - used) / .seconds(1), bytes: Double(program.byteCount),
            frames: Double(program.frameCount), seconds: (end - begun) / .seconds(1))
    }

    /// From a typed letter to its cell in the output; what takes longer than the limit counts as so long. Each letter is
    /// deleted before the next one.
    func keys(_ count: Int) throws -> Samples {
        let program = try start()
        program.type(typing)
        program.receive(for: .seconds(2))
        var times = Samples()
        var generator = SystemRandomNumberGenerator()
        for number in 0..<count {
            let letter = number % 2 == 0 ? "Z" : "Q"
            program.forget()
            let typed = program.type(letter)
            let shown = try? program.wait(for: letter, limit: Self.longest)
            times.add(shown.map { $0 - typed } ?? Self.longest)
            program.type("\u{7F}")
            program.receive(for: .milliseconds(Int.random(in: 50...90, using: &generator)))
        }
        return times
    }

    private static let longest = Duration.seconds(1)

    func start() throws -> TerminalProgram {
        let program = try TerminalProgram(path, arguments, variables: variables)
        try program.wait(for: ready)
        return program
    }
}

/// From a key to its cell: with nothing else to do, and while a text streams on the same screen.
enum ShellKeyBenchmark {
    private static let keys = 200
    private static let tokens = 100_000
    /// More than comes while the keys are typed.
    private static let endless = 10_000_000

    static func run() async throws -> [Figure] {
        try Peers.checkTextual()
        return try await TemporaryDirectory.run { folder in
            let text = "\(folder)/text"
            try TokenText.write(tokens: tokens, to: text)
            let cases: [(name: String, kind: StreamProgram.Kind, rate: Int, limit: Figure.Goal)] = [
                ("idle", .log, 0, .atMost(8)), ("with 10000 tokens a second", .log, 10_000, .atMost(8)),
                ("with 1000 tokens a second of Markdown", .markdown, 1_000, .none),
            ]
            return try cases.enumerated().flatMap { number, one in
                let ours = try StreamProgram.ours(
                    one.kind, text, rate: one.rate, count: endless, home: "\(folder)/\(number)"
                ).keys(keys)
                let theirs = try StreamProgram.textual(one.kind, text, rate: one.rate, count: endless).keys(keys)
                return [
                    Figure("\(one.name), p50, martlet", ours.median * 1000, "ms"),
                    Figure("\(one.name), p99, martlet", ours.quantile(0.99) * 1000, "ms", one.limit),
                    Figure("\(one.name), p50, martlet / Textual", ours.median / theirs.median, "ratio"),
                    Figure("\(one.name), p50, Textual", theirs.median * 1000, "ms"),
                    Figure("\(one.name), p99, Textual", theirs.quantile(0.99) * 1000, "ms"),
                ]
            }
        }
    }
}

/// What it costs to show a text that streams, against Textual's Log and Markdown, and `cat` with the whole text.
enum ShellStreamBenchmark {
    private static let tokens = 100_000
    private static let seconds = 10

    static func run() async throws -> [Figure] {
        try Peers.checkTextual()
        return try await TemporaryDirectory.run { folder in
            let text = "\(folder)/text"
            try TokenText.write(tokens: tokens, to: text)
            func ours(_ kind: StreamProgram.Kind, _ rate: Int) throws -> StreamProgram.Cost {
                try StreamProgram.ours(
                    kind, text, rate: rate, count: rate * seconds, home: "\(folder)/\(kind)-\(rate)"
                ).cost()
            }
            func theirs(_ kind: StreamProgram.Kind, _ rate: Int) throws -> StreamProgram.Cost {
                try StreamProgram.textual(kind, text, rate: rate, count: rate * seconds).cost()
            }
            let (fast, slow, textual) = (try ours(.log, 10_000), try ours(.log, 1_000), try theirs(.log, 10_000))
            let (markdown, peer) = (try ours(.markdown, 1_000), try theirs(.markdown, 1_000))
            let cat = try TerminalProgram("cat", [text])
            cat.receiveAll()
            let fastText = Double(10_000 * seconds * TokenText.tokenSize)
            let slowText = Double(1_000 * seconds * TokenText.tokenSize)
            return [
                Figure("processor time, martlet / Textual", fast.processor / textual.processor, "ratio", .atMost(0.2)),
                Figure("processor time, martlet", fast.processor, "s"),
                Figure("processor time, Textual", textual.processor, "s"),
                Figure("processor time, cat", cat.end().processorTime / .seconds(1), "s"),
                Figure("bytes / text, martlet", fast.bytes / fastText, "ratio", .atMost(1.3)),
                Figure("bytes / text, Textual", textual.bytes / fastText, "ratio"),
                Figure("bytes / text, cat", Double(cat.byteCount) / fastText, "ratio"),
                Figure("frames a second, martlet", fast.frames / fast.seconds, "frames/s"),
                Figure("frames a second, Textual", textual.frames / textual.seconds, "frames/s"),
                Figure("1000 tokens a second: processor time, martlet", slow.processor, "s"),
                Figure("1000 tokens a second: bytes / text, martlet", slow.bytes / slowText, "ratio", .atMost(1.3)),
                Figure("Markdown: processor time, martlet / Textual", markdown.processor / peer.processor, "ratio"),
                Figure("Markdown: processor time, martlet", markdown.processor, "s"),
                Figure("Markdown: processor time, Textual", peer.processor, "s"),
                Figure("Markdown: bytes / text, martlet", markdown.bytes / slowText, "ratio"),
                Figure("Markdown: bytes / text, Textual", peer.bytes / slowText, "ratio"),
            ]
        }
    }
}

/// A page down in a log of a million lines, against less.
enum ShellScrollBenchmark {
    private static let pages = 300
    private static let lines = 1_000_000

    static func run() async throws -> [Figure] {
        try await TemporaryDirectory.run { folder in
            let file = "\(folder)/million"
            try Files.writeAtomically(
                Array((0..<lines).map { "line \($0) of a log that is as long as it can be\n" }.joined().utf8), to: file)
            let martlet = try TerminalProgram(
                "/proc/self/exe", [ShellWorkbench.word, "shell", "bench.million", file],
                variables: ["MARTLET_HOME": "\(folder)/home"])
            try martlet.wait(for: "line \(lines - 1) ")
            // Home.
            martlet.type("g")
            try martlet.wait(for: "line 0 ")
            let less = try TerminalProgram("less", [file])
            try less.wait(for: "line 0 ")
            for program in [martlet, less] { program.settle(.milliseconds(300)) }
            var (ours, theirs) = (Samples(), Samples())
            for _ in 0..<pages {
                ours.add(time(martlet, "f"))
                theirs.add(time(less, " "))
            }
            return [
                Figure("a page down, p50, martlet", ours.median * 1000, "ms", .atMost(1)),
                Figure("a page down, p99, martlet", ours.quantile(0.99) * 1000, "ms", .atMost(4)),
                Figure("p50, martlet / less", ours.median / theirs.median, "ratio"),
                Figure("a page down, p50, less", theirs.median * 1000, "ms"),
                Figure("a page down, p99, less", theirs.quantile(0.99) * 1000, "ms"),
                Figure("memory, martlet", Double(try martlet.memory) / 1_048_576, "MiB"),
            ]
        }
    }

    /// To the last byte before 30 ms of silence.
    private static func time(_ program: TerminalProgram, _ key: String) -> Duration {
        let typed = program.type(key)
        program.settle(.milliseconds(30))
        return program.lastByte - typed
    }
}

/// What the shell does while nothing happens, and how much memory a long stream leaves behind.
enum ShellIdleBenchmark {
    private static let seconds = 10
    private static let events = 1_200_000
    private static let rate = 50_000

    static func run() async throws -> [Figure] {
        try Peers.checkTextual()
        return try await TemporaryDirectory.run { folder in
            let list = try ConversationList(in: folder)
            let ours = try idle(
                TerminalProgram(MartletProgram.path, ["shell", "chat.conversations"], variables: list.variables),
                list.newest)
            let theirs = try idle(
                TerminalProgram(Peers.python, [Peers.path("textual_list.py"), list.rows]), list.newest)
            let (before, after) = try memory(folder)
            return [
                Figure("context switches in \(seconds) s, martlet", Double(ours.switches), "switches", .atMost(0)),
                Figure("bytes written in \(seconds) s, martlet", Double(ours.bytes), "bytes", .atMost(0)),
                Figure("context switches in \(seconds) s, Textual", Double(theirs.switches), "switches"),
                Figure("bytes written in \(seconds) s, Textual", Double(theirs.bytes), "bytes"),
                Figure(
                    "memory that a million events leave behind", Double(after - before) / 1_048_576, "MiB", .atMost(8)),
                Figure("memory before", Double(before) / 1_048_576, "MiB"),
            ]
        }
    }

    private static func idle(_ program: TerminalProgram, _ row: String) throws -> (switches: Int, bytes: Int) {
        try program.wait(for: row)
        program.receive(for: .seconds(3))
        program.forget()
        let before = try program.voluntarySwitches
        program.receive(for: .seconds(seconds))
        // A thread that has ended since does not count, and all of a new one do.
        let after = try program.voluntarySwitches
        return (after.reduce(0) { $0 + $1.value - (before[$1.key] ?? 0) }, program.byteCount)
    }

    /// The first events fill the log, which keeps 10,000 lines.
    private static func memory(_ folder: String) throws -> (before: Int, after: Int) {
        let text = "\(folder)/text"
        try TokenText.write(tokens: 100_000, to: text)
        let program = try StreamProgram.ours(.log, text, rate: rate, count: events, home: "\(folder)/stream").start()
        program.receive(for: .seconds(5))
        let before = try program.memory
        try program.wait(for: TokenText.end, limit: .seconds(240))
        return (before, try program.memory)
    }
}
