import JSON
import ProcessKit
import Testing

@Suite("A running command", .timeLimit(.minutes(5)))
struct SignalTests {
    /// Sends signals, each after its line of messages was seen, and gives the end and the messages after the first signal.
    private func end(
        _ words: [String], after lines: [(line: String, signal: Signal)]
    ) async throws -> (ChildStatus, [String]) {
        try await withHome { home in
            var command = Program.bench.command(words, home: home)
            command.errors = .pipe
            return try await Launcher.standalone.withChild(command) { child in
                for (line, signal) in lines {
                    while let next = try await child.errors.nextLine(),
                        !String(decoding: next, as: UTF8.self).contains(line)
                    {}
                    child.send(signal)
                }
                var rest: [String] = []
                while let next = try await child.errors.nextLine() {
                    rest.append(String(decoding: next, as: UTF8.self))
                }
                return (try await child.exitStatus(), rest)
            }
        }
    }

    @Test(
        "is cancelled by a signal, stops its features and gives the signal's code",
        arguments: [(Signal.interrupt, 130), (.terminate, 143), (.hangUp, 143)] as [(Signal, Int32)])
    func cancelled(signal: Signal, code: Int32) async throws {
        let (status, rest) = try await end(["lab", "wait"], after: [("waiting", signal)])
        #expect(status == .exited(code))
        #expect(rest.contains("steady has stopped"))
    }

    @Test("that does not listen is left at the second interrupt, at once") func secondInterrupt() async throws {
        let (status, rest) = try await end(
            ["lab", "ignore"], after: [("ignoring", .interrupt), ("was cancelled", .interrupt)])
        #expect(status == .exited(130))
        // It was not even waited for what would have stopped.
        #expect(!rest.contains("steady has stopped"))
    }

    @Test("that does not listen ends all the same, when patience is over") func patience() async throws {
        let (status, _) = try await end(["lab", "ignore"], after: [("ignoring", .terminate)])
        #expect(status == .exited(143))
    }

    @Test("ends with 4 when its time is over", arguments: [["--timeout", "100ms"], ["--timeout=0.1"]])
    func timeout(words: [String]) async throws {
        try await withHome { home in
            let run = try await Program.bench.run(["lab", "wait", "--json"] + words, home: home)
            #expect(run.code == 4)
            #expect(run.errors.contains(#""code":"host.timed-out""#))
            #expect(run.errors.contains("steady has stopped"))
        }
    }

    @Test("ends with 4 also when the action does not listen") func timeoutOfDeafAction() async throws {
        try await withHome { home in
            let run = try await Program.bench.run(["lab", "ignore", "--json", "--timeout", "50ms"], home: home)
            #expect(run.code == 4)
            #expect(run.errors.contains("was cancelled"))
            #expect(run.errors.contains(#""code":"host.timed-out""#))
        }
    }

    @Test("goes on when a feature it only uses does not start, and sees why") func brokenFeature() async throws {
        try await withHome { home in
            let run = try await Program.bench.run(["lab", "states", "--json"], home: home)
            #expect(run.code == 0)
            let rows = try #require(try run.output.json().array)
            #expect(rows.count == 2)
            #expect(rows.contains(["id": "steady", "state": "ok"]))
            let broken = rows.first { $0["id"] == "broken" }
            #expect(broken?["state"] == "failed")
            #expect(broken?["reason"]?.string?.contains("the lamp does not light") == true)
            #expect(run.errors.contains("steady has stopped"))
        }
    }
}
