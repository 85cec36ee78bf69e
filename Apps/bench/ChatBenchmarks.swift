import CoreTesting
import FileKit
import Glibc
import HTTPTesting
import LoopKit
import ProcessKit

/// Time from the start of a process to the first byte of its request: `martlet ask` with settings and a history in
/// which it stores the question, against curl reading as many files, and against the program `llm`.
enum ChatStartBenchmark {
    private static let rounds = 200
    private static let peerRounds = 10

    static func run() async throws -> [Figure] {
        try await TemporaryDirectory.run { folder in
            let catcher = try RequestCatcher()
            let program = try MartletProgram(in: folder)
            let ours = Candidate(
                MartletProgram.path, ["ask", "Hello"], variables: program.variables(port: catcher.port))
            // The first run creates the history.
            _ = try ours.time(catcher)
            let files = try OpenedFiles.count(in: ["\(program.home)/config", "\(program.home)/data"]) {
                _ = try ours.time(catcher)
            }
            let curl = try Self.curl(reading: files, in: folder, port: catcher.port)
            let llm = Candidate(
                Peers.llm, ["-m", "gpt-4o-mini", "Hello"],
                variables: MartletProgram.server(port: catcher.port).merging(["LLM_USER_PATH": "\(folder)/llm"]) { $1 })
            var times = (ours: Samples(), curl: Samples(), llm: Samples())
            for round in 0..<(rounds + 10) {
                let (first, second) = (try ours.time(catcher), try curl.time(catcher))
                // The first rounds warm up the caches.
                if round < 10 { continue }
                times.ours.add(first)
                times.curl.add(second)
            }
            for _ in 0..<peerRounds { times.llm.add(try llm.time(catcher)) }
            return [
                Figure(
                    "first byte of the request: martlet ask / curl with as many files",
                    times.ours.median / times.curl.median,
                    "ratio", .atMost(1.5)),
                Figure(
                    "first byte of the request: llm / martlet ask", times.llm.median / times.ours.median, "ratio",
                    .atLeast(20)),
                Figure("martlet ask", times.ours.median * 1000, "ms"),
                Figure("curl", times.curl.median * 1000, "ms"),
                Figure("llm", times.llm.median * 1000, "ms"),
                Figure("files of its own that martlet ask opens", Double(files), "files"),
            ]
        }
    }

    /// curl with a configuration and a body in several files, so that it reads as many files as our program.
    private static func curl(reading files: Int, in folder: String, port: Int) throws -> Candidate {
        let settings = "\(folder)/curlrc"
        try Files.writeAtomically(
            Array("silent\nno-buffer\nheader = \"Authorization: Bearer none\"\n".utf8), to: settings)
        var arguments = ["-q", "-K", settings, "-o", "/dev/null", "http://127.0.0.1:\(port)/v1/chat/completions"]
        for number in 1..<max(files, 2) {
            let part = "\(folder)/part\(number)"
            try Files.writeAtomically(Array(#"{"model":"gpt-5-mini"}"#.utf8), to: part)
            arguments += ["--data-binary", "@\(part)"]
        }
        return Candidate("curl", arguments)
    }
}

/// A program that sends one request.
private struct Candidate {
    let path: String
    let arguments: [String]
    let variables: [String: String]

    init(_ path: String, _ arguments: [String], variables: [String: String] = [:]) {
        (self.path, self.arguments, self.variables) = (path, arguments, variables)
    }

    /// Runs the program to its end and returns the time until the first byte of its request.
    func time(_ catcher: borrowing RequestCatcher) throws -> Duration {
        let start = ContinuousClock.now
        let process = try Child.start(path, arguments, variables: variables)
        let request = try catcher.next()
        let time = request.time - start
        try request.answer()
        // A program that reads until the end of the connection exits then.
        _ = consume request
        let status = Child.wait(for: process).status
        guard status == 0 else { throw BenchmarkError("\(path) ended with \(status)") }
        return time
    }
}

/// Counts opened files, as reported by the system.
enum OpenedFiles {
    /// The number of different files directly in the folders that any process opens during the work.
    static func count(in folders: [String], during work: () throws -> Void) throws -> Int {
        let watch = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
        guard watch >= 0 else { throw BenchmarkError("no files can be watched") }
        defer { close(watch) }
        for folder in folders {
            guard unsafe inotify_add_watch(watch, folder, UInt32(IN_OPEN)) >= 0 else {
                throw BenchmarkError("\(folder) cannot be watched")
            }
        }
        try work()
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        let count = unsafe read(watch, &bytes, bytes.count)
        return names(bytes.prefix(max(0, count))).count
    }

    /// An event has four numbers, the last of which is the length of the following name; an event of the folder itself
    /// has no name.
    private static func names(_ bytes: ArraySlice<UInt8>) -> Set<[UInt8]> {
        let head = MemoryLayout<inotify_event>.size
        var found: Set<[UInt8]> = []
        var rest = bytes
        while rest.count >= head {
            let length = rest.prefix(head).suffix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
            let name = rest.dropFirst(head).prefix(length).prefix { $0 != 0 }
            if !name.isEmpty { found.insert(Array(name)) }
            rest = rest.dropFirst(head + length)
        }
        return found
    }
}

/// One answer of 200,000 chunks, each sent separately, read by the whole program, by `curl -N`, which only receives
/// them, and by the openai client. All write to /dev/null. Times are of whole processes.
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

    /// The best of ten alternating rounds, because a machine's speed drifts.
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

    /// The median of three runs, because they vary by a megabyte.
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

/// Runs the server of `answer_chunks.c` during some work.
enum ChunkServer {
    /// How it sends chunks: each in a separate system call, or many together.
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

/// Ctrl-C in the middle of a streamed answer that is stored: time until the server sees the connection close, and until
/// the program has ended.
enum StopBenchmark {
    private static let rounds = 200

    static func run() async throws -> [Figure] {
        try await TemporaryDirectory.run { folder in
            let catcher = try RequestCatcher()
            let program = try MartletProgram(in: folder)
            var (server, turn): ([Double], [Double]) = ([], [])
            for round in 0..<rounds {
                let (closed, ended) = try stopOne(program, catcher, after: 5 + round % 20)
                server.append(closed / .milliseconds(1))
                turn.append(ended / .milliseconds(1))
            }
            server.sort()
            turn.sort()
            return [
                Figure("from Ctrl-C until the program has ended, p99", turn[rounds * 99 / 100], "ms", .atMost(200)),
                Figure(
                    "from Ctrl-C until the server sees the connection close, p99", server[rounds * 99 / 100], "ms",
                    .atMost(200)),
                Figure("until the program has ended, median", turn[rounds / 2], "ms"),
                Figure("until the server sees it, median", server[rounds / 2], "ms"),
            ]
        }
    }

    /// - Parameter chunks: The number of chunks before the interrupt.
    private static func stopOne(
        _ program: MartletProgram, _ catcher: borrowing RequestCatcher, after chunks: Int
    ) throws -> (closed: Duration, ended: Duration) {
        let process = try Child.start(
            MartletProgram.path, ["ask", "Hello"], variables: program.variables(port: catcher.port))
        let request = try catcher.next()
        try request.read()
        guard request.send(CaughtRequest.head) else { throw BenchmarkError("the client did not wait") }
        for number in 0..<chunks {
            guard request.send(CaughtRequest.chunk("word\(number) ")) else {
                throw BenchmarkError("the client did not wait")
            }
            usleep(10_000)
        }
        let start = ContinuousClock.now
        kill(process, SIGINT)
        let closed = try request.closing() - start
        let status = Child.wait(for: process).status
        let ended = ContinuousClock.now - start
        // The exit code says that it was interrupted; the signal did not kill it.
        guard status == 130 << 8 else { throw BenchmarkError("the program ended with \(status)") }
        return (closed, ended)
    }
}
