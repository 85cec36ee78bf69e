import FileKit
import Glibc
import HTTPTesting

/// From the start of a process to the first byte of its request: `martlet ask` with settings and a history in which it
/// stores the question, against curl, which reads as many files, and against the program `llm`.
enum ChatStartBenchmark {
    private static let rounds = 200
    private static let peerRounds = 10

    static func run() async throws -> [Figure] {
        try await TemporaryDirectory.run { folder in
            let catcher = try RequestCatcher()
            let program = try MartletProgram(in: folder)
            let ours = Candidate(
                MartletProgram.path, ["ask", "Hello"], variables: program.variables(port: catcher.port))
            // The first time makes the history.
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
                // The first rounds warm the caches.
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

    /// curl with a configuration and a body in several files, so that it reads as many as ours.
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

/// A program that asks once.
private struct Candidate {
    let path: String
    let arguments: [String]
    let variables: [String: String]

    init(_ path: String, _ arguments: [String], variables: [String: String] = [:]) {
        (self.path, self.arguments, self.variables) = (path, arguments, variables)
    }

    /// Runs it to its end and gives the time until its request began to arrive.
    func time(_ catcher: borrowing RequestCatcher) throws -> Duration {
        let start = ContinuousClock.now
        let process = try Child.start(path, arguments, variables: variables)
        let request = try catcher.next()
        let time = request.time - start
        try request.answer()
        // Whoever reads until the end of the connection ends with it.
        _ = consume request
        let status = Child.wait(for: process).status
        guard status == 0 else { throw BenchmarkError("\(path) ended with \(status)") }
        return time
    }
}
