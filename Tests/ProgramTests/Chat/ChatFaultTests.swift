import FileKit
import Glibc
import HTTPTesting
import JSON
import ProcessKit
import Testing

@Suite("Interrupted answers", .timeLimit(.minutes(5)))
struct ChatFaultTests {
    /// A command that has shown the beginning of an answer that then stalls.
    private func withAnswering(
        _ body: (ChatHome, ChildProcess) async throws -> Void
    ) async throws {
        try await ChatHome.with { connection in
            try connection.begin(["What was ", "shown"])
            try connection.stall()
        } _: { home in
            let command = Program.martlet.command(["ask", "Hi"], home: home.path, adding: home.variables)
            try await Launcher.standalone.withChild(command) { child in
                var shown = ""
                while !shown.hasSuffix("shown"), let bytes = try await child.output.read() {
                    shown += String(decoding: bytes, as: UTF8.self)
                }
                #expect(shown == "What was shown")
                try await body(home, child)
            }
        }
    }

    @Test("A killed program has stored what was shown")
    func killed() async throws {
        try await withAnswering { home, child in
            // It may take a quarter of a second until it is stored; meanwhile others see it grow.
            while try await home.stored() != ["user: Hi", "assistant: What was shown (streaming)"] {}
            #expect(kill(child.processID, SIGKILL) == 0)
            #expect(try await child.exitStatus().code == 137)
            #expect(try await home.stored() == ["user: Hi", "assistant: What was shown (interrupted)"])
        }
    }

    @Test("Ctrl-C ends an answer at once, here and at the server, and stores what was shown")
    func interrupted() async throws {
        try await withAnswering { home, child in
            let start = ContinuousClock.now
            #expect(kill(child.processID, SIGINT) == 0)
            #expect(try await child.exitStatus().code == 130)
            #expect(ContinuousClock.now - start < .seconds(20))
            try await home.server.until { $0.connections.first?.peerLeft == true }
            #expect(try await home.stored() == ["user: Hi", "assistant: What was shown (stopped)"])
        }
    }

    /// The file size limit in blocks, which acts like a full disk.
    private func limited(_ blocks: Int, _ home: ChatHome) async throws -> Program.Run {
        try await home.shell("trap '' XFSZ; ulimit -f \(blocks); martlet ask Hi")
    }

    @Test("A full disk does not cut the answer, and the missing storage is reported", arguments: [0, 8, 2000])
    func full(blocks: Int) async throws {
        let answer = String(repeating: "All of it. ", count: 200_000)
        try await ChatHome.with(answer: answer) { home in
            let run = try await limited(blocks, home)
            #expect(run.output == answer + "\n", "\(run.output.utf8.count) bytes")
            #expect(run.errors.contains("not stored"), "\(run.errors)")
            #expect(run.code == 0)
        }
    }

    @Test("A full disk does not change earlier conversations")
    func fullLater() async throws {
        try await ChatHome.with(answer: "Yes.") { home in
            #expect(try await home.martlet("ask", "One").code == 0)
            let run = try await limited(0, home)
            #expect(run.output == "Yes.\n" && run.errors.contains("not stored"), "\(run.errors)")
            #expect(try await home.stored() == ["user: One", "assistant: Yes."])
        }
    }

    @Test("Parallel commands in one conversation lose nothing")
    func together() async throws {
        try await ChatHome.with(answer: "Yes.") { home in
            #expect(try await home.martlet("ask", "start").code == 0)
            let run = try await home.shell("for n in 1 2 3 4; do martlet ask --continue word$n & done; wait")
            #expect(run.output.lines.joined() == "Yes.Yes.Yes.Yes.", "\(run.errors)")
            for number in 1...4 {
                let hits = try await home.martlet("chat", "search", "word\(number)", "--json").output.json()
                #expect(hits.array?.count == 1)
            }
            #expect(try await home.martlet("chat", "list", "--json").output.json().array?.count == 1)
        }
    }
}
