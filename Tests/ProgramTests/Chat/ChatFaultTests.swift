import FileKit
import Glibc
import HTTPTesting
import JSON
import ProcessKit
import Testing

@Suite("An answer in the middle of which something happens", .timeLimit(.minutes(5)))
struct ChatFaultTests {
    /// A command that has shown the beginning of an answer that goes no further.
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

    @Test("as a kill: what was shown is in the history")
    func killed() async throws {
        try await withAnswering { home, child in
            // It may take a quarter of a second until it is stored; meanwhile others see it grow.
            while try await home.stored() != ["user: Hi", "assistant: What was shown (streaming)"] {}
            #expect(kill(child.processID, SIGKILL) == 0)
            #expect(try await child.exitStatus().code == 137)
            #expect(try await home.stored() == ["user: Hi", "assistant: What was shown (interrupted)"])
        }
    }

    @Test("as Ctrl-C: it ends at once, here and at the server, and what was shown is in the history")
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

    /// Files may not become larger than so many blocks, which is as if the disk were full.
    private func limited(_ blocks: Int, _ home: ChatHome) async throws -> Program.Run {
        try await home.shell("trap '' XFSZ; ulimit -f \(blocks); martlet ask Hi")
    }

    @Test("as a full disk: the answer is shown whole, and that it is not stored is told", arguments: [0, 8, 2000])
    func full(blocks: Int) async throws {
        let answer = String(repeating: "All of it. ", count: 200_000)
        try await ChatHome.with(answer: answer) { home in
            let run = try await limited(blocks, home)
            #expect(run.output == answer + "\n", "\(run.output.utf8.count) bytes")
            #expect(run.errors.contains("not stored"), "\(run.errors)")
            #expect(run.code == 0)
        }
    }

    @Test("as a full disk leaves what was said before as it was")
    func fullLater() async throws {
        try await ChatHome.with(answer: "Yes.") { home in
            #expect(try await home.martlet("ask", "One").code == 0)
            let run = try await limited(0, home)
            #expect(run.output == "Yes.\n" && run.errors.contains("not stored"), "\(run.errors)")
            #expect(try await home.stored() == ["user: One", "assistant: Yes."])
        }
    }

    @Test("as other commands that go on with the same conversation: nothing of any is lost")
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
