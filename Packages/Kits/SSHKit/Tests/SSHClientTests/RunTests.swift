import Capabilities
import CoreTesting
import Glibc
import JSON
import LoopKit
import ProcessKit
import SSHClient
import SSHCore
import SSHTesting
import Synchronization
import Testing

@Suite("Commands on a host", .timeLimit(.minutes(5)))
struct RunTests {
    @Test("A command ends with its code or signal, and its streams and input come whole and apart")
    func streams() async throws {
        // Keys are renewed every megabyte.
        try await Server.run(options: ["RekeyLimit=1M"]) { server in
            try server.trust("ed25519")
            try await server.with { connection in
                let plain = try await connection.outcome("echo out; echo err >&2; exit 3")
                #expect(plain.exit == .exited(3) && plain.printed.text == "out\n")
                #expect(plain.printed.errors == Array("err\n".utf8))
                #expect(try await connection.outcome("kill -TERM $$").exit == .signalled("TERM"))
                // The second stream goes on after the end of the first.
                let late = try await connection.outcome("exec >&-; sleep 0.1; echo late >&2; exit 2")
                #expect(late.exit == .exited(2) && late.printed.errors == Array("late\n".utf8))
                let input = (0..<(1 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
                let echoed = try await connection.outcome("cat", input: .bytes(input))
                #expect(echoed.exit.isSuccess && echoed.printed.output == input)
                // It does not read its input.
                #expect(try await connection.outcome("exit 4", input: .bytes(input + input)).exit == .exited(4))
                let pieces = Mutex(["a", "b", ""].map { Array($0.utf8) }[...])
                let joined = try await connection.outcome("cat", input: .pieces { pieces.withLock { $0.popFirst() } })
                #expect(joined.printed.text == "ab")
                let both = try await connection.outcome(
                    "head -c 10000000 /dev/zero & head -c 10000000 /dev/zero >&2; wait")
                #expect(both.printed.output.count == 10_000_000 && both.printed.errors.count == 10_000_000)
            }
        }
    }

    @Test("Commands run side by side, a slow reader stops only its own, and a cancelled one leaves the others")
    func sideBySide() async throws {
        try await Server.run { server in
            try server.trust("ed25519")
            try await server.with { connection in
                let gate = Promise<Void>()
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask {
                        let count = Mutex(0)
                        let exit = try await connection.run(SSHCommand(line: "head -c 4000000 /dev/zero")) { piece in
                            if count.withLock({ $0 }) == 0 { try await gate.value() }
                            if case .output(let bytes) = piece { count.withLock { $0 += bytes.count } }
                        }
                        #expect(exit.isSuccess && count.withLock { $0 } == 4_000_000)
                    }
                    for number in 1...12 {
                        group.addTask {
                            let done = try await connection.outcome("echo \(number); cat >&2", input: .bytes([65]))
                            #expect(
                                done.exit.isSuccess && done.printed.text == "\(number)\n"
                                    && done.printed.errors == [65],
                                "\(done.exit) \(done.printed.text) \(String(decoding: done.printed.errors, as: UTF8.self))"
                            )
                        }
                    }
                    for _ in 1...12 { try await group.next() }
                    let began = Promise<Void>()
                    let cancelled = Task {
                        _ = try await connection.run(
                            SSHCommand(line: "echo started; exec cat"), input: .pieces { try await hang() }
                        ) { _ in began.settle(()) }
                    }
                    try await began.value()
                    cancelled.cancel()
                    await #expect(throws: CancellationError.self) { try await cancelled.value }
                    #expect(try await connection.outcome("exit 7").exit == .exited(7))
                    gate.settle(())
                    try await group.waitForAll()
                }
            }
        }
    }

    @Test("A host that opens no further channel, or ends, is an error that says so")
    func refusals() async throws {
        try await Server.run(options: ["MaxSessions=1"]) { server in
            try server.trust("ed25519")
            let sink = RecordingSpanSink()
            try await Tracer(sinks: [sink], now: Timestamp.now).span("work", of: "test") { _ in
                try await server.with { connection in
                    let process = Promise<Int32>()
                    async let first = failure {
                        _ = try await connection.run(
                            SSHCommand(line: "true hunter22; echo $PPID; exec cat"), input: .pieces { try await hang() }
                        ) { process.settle(number($0)) }
                    }
                    let server = try await process.value()
                    let refused = try await failure { _ = try await connection.run(SSHCommand(words: ["true"])) }
                    #expect(refused.kind == .channelRefused && refused.message.contains("MaxSessions"))
                    #expect(kill(server, SIGKILL) == 0)
                    let lost = try await first
                    #expect(lost.kind == .disconnected && lost.message.contains("may have run"), "\(lost)")
                    #expect(await connection.isClosed)
                    #expect(
                        try await failure { _ = try await connection.run(SSHCommand(words: ["true"])) }.kind
                            == .disconnected)
                }
            }
            let spans = sink.spans
            #expect(spans.map(\.name) == ["ssh connect", "ssh exec", "ssh exec", "ssh exec", "work"])
            #expect(spans[0].attributes["server.address"] == "127.0.0.1" && spans[0].kind == .client)
            #expect(spans[0].attributes["martlet.decision"] == "known")
            #expect(Set(spans[1...3].compactMap(\.failure)) == ["ssh.channel-refused", "ssh.disconnected"])
            #expect(!"\(spans)".contains("hunter22"))
        }
    }

    @Test("A host that says nothing any more ends the connection")
    func silent() async throws {
        try await Server.run { server in
            try server.trust("ed25519")
            try await server.with("ServerAliveInterval 1\nServerAliveCountMax 1") { connection in
                let process = Promise<Int32>()
                async let lost = failure {
                    _ = try await connection.run(
                        SSHCommand(line: "echo $PPID; exec cat"), input: .pieces { try await hang() }
                    ) { process.settle(number($0)) }
                }
                let server = try await process.value()
                #expect(kill(server, SIGSTOP) == 0)
                let error = try await lost
                #expect(error.kind == .disconnected && error.message.contains("not answered"), "\(error)")
                #expect(kill(server, SIGKILL) == 0)
            }
        }
    }

    @Test("Words reach a program of a shell as they are")
    func words() async throws {
        let letters = Array("ab =~'\"\\$`!*?[]{}()<>|&;#%^\n\t-é\u{1B}")
        var generator = SeededGenerator(seed: 7)
        var (script, expected) = ("", [String]())
        for _ in 0..<300 {
            let words = (0..<Int.random(in: 1...4, using: &generator)).map { _ in
                String(
                    (0..<Int.random(in: 0...6, using: &generator)).compactMap { _ in
                        letters.randomElement(using: &generator)
                    })
            }
            script += try SSHCommand(words: ["printf", "%s\\0"] + words).line + "\n"
            expected += words
        }
        let printed = try await Server.shell(script)
        #expect(printed == expected.flatMap { Array($0.utf8) + [0] })
        #expect(try SSHCommand(words: ["A=b", "if"]).line == "'A=b' if")
        #expect(throws: SSHError.self) { try SSHCommand(words: []) }
        #expect(throws: SSHError.self) { try SSHCommand(words: ["a\0b"]) }
        #expect(throws: SSHError.self) { try SSHCommand(words: [String(repeating: "a", count: 40_000)]) }
    }
}

/// Waits until it is cancelled.
private func hang() async throws -> [UInt8]? {
    _ = try await Promise<Void>().value()
    return nil
}

/// The number that a command has printed: that of the process of the server.
private func number(_ piece: SSHPiece) -> Int32 {
    guard case .output(let bytes) = piece else { return 0 }
    return Int32(String(decoding: bytes.filter { $0 > 32 }, as: UTF8.self)) ?? 0
}
