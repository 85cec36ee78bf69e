import Capabilities
import CoreTesting
import FileKit
import Glibc
import JSON
import Registry
import SSHTesting
import Testing

@testable import SSH

@Suite("Commands on hosts", .timeLimit(.minutes(5)))
struct RunTests {
    @Test("A command runs on all hosts, its lines come as they are printed, and a dead host delays none")
    func fleet() async throws {
        try await SSHServer.withHost { server, host in
            try server.trust("ed25519")
            let output = RecordingOutput()
            let done = try await host.perform(
                "ssh.run",
                ["hosts": "web*,dead", "program": "sh", "arguments": ["-c", "echo one; echo two >&2; printf three"]],
                asking: HeadlessInteraction(), output: output)
            #expect(done.exit == .unreachable)
            let rows = try #require(done.json.array)
            #expect(rows.compactMap { $0["host"]?.string } == ["web1", "web2", "dead"])
            #expect(rows.compactMap { $0["state"]?.string } == ["ok", "ok", "unreachable"])
            #expect(rows[0]["output"] == "one\nthree" && rows[0]["errors"] == "two\n" && rows[0]["exit_code"] == 0)
            #expect(rows[2]["code"] == "ssh.unreachable")
            // As text, each line has its host.
            #expect(output.text.contains("web1  one\n") && output.text.contains("web2  three\n"))
            let lines = output.events.filter { $0.type == "output" && $0.fields["host"] == "web2" }
            #expect(lines.contains { $0.fields["stream"] == "errors" && $0.fields["text"] == "two\n" })
            #expect(output.events.filter { $0.type == "host" }.count == 3)
            #expect(output.notices.first == "on 3 hosts: web1, web2, dead")
            #expect(output.notices.last == "2 of 3 hosts succeeded; unreachable: dead")
            let declared = try #require(host.composition.registry.actions["ssh.run"]?.events)
            for event in output.events { #expect(declared.problems(in: event.json).isEmpty, "\(event)") }
        }
    }

    @Test("Of one host, the lines come as they are, and its error is that of the action")
    func alone() async throws {
        try await SSHServer.withHost { server, host in
            try server.trust("ed25519")
            let output = RecordingOutput()
            let failed = try await host.perform(
                "ssh.run",
                ["hosts": "db", "program": "sh", "arguments": ["-c", "cat; echo no >&2; exit 3"], "input": "in"],
                asking: HeadlessInteraction(), output: output)
            #expect(failed.exit == .toolFailed && failed.json.array?[0]["exit_code"] == 3)
            #expect(output.text == "no\nin" || output.text == "inno\n")
            #expect(output.notices == ["the command ended with exit code 3: no"])
            let killed = try await host.perform(
                "ssh.run", ["hosts": "db", "program": "sh", "arguments": ["-c", "kill -9 $$"]],
                asking: HeadlessInteraction())
            #expect(killed.exit == .toolFailed && killed.json.array?[0]["signal"] == "KILL")
            let missing = try await host.perform(
                "ssh.run", ["hosts": "db", "program": "no-such-program"], asking: HeadlessInteraction())
            #expect(missing.json.array?[0]["reason"]?.string?.contains("not found") == true)
            #expect(try await host.failure("ssh.run", ["hosts": "dead", "program": "true"]).exit == .unreachable)
            let line = try await host.failure("ssh.run", ["hosts": "db", "program": "ls | wc"])
            #expect(line.exit == .usage && line.message.contains("sh -c 'ls | wc'"))
            for names in ["nas*", "!db", "a b\\", "me@web:0", ","] {
                let refused = try await host.failure("ssh.run", ["hosts": .string(names), "program": "true"])
                #expect(refused.exit == .usage, "\(names): \(refused.message)")
            }
        }
    }

    @Test("A command has a limit, and its output too")
    func limits() async throws {
        try await SSHServer.withHost { server, host in
            try server.trust("ed25519")
            let output = RecordingOutput()
            async let late = host.failure(
                "ssh.run",
                ["hosts": "db", "program": "sh", "arguments": ["-c", "echo begun; exec sleep 1000"], "limit": "5s"],
                output: output)
            await output.wait { $0.contains { $0.type == "output" } }
            host.clock.advance(by: .seconds(6))
            let failure = try await late
            #expect(failure.code == "ssh.timed-out" && failure.message.contains("within 5s"), "\(failure.message)")
            let large = try await host.perform(
                "ssh.run", ["hosts": "db", "program": "head", "arguments": ["-c", "3000000", "/dev/zero"]],
                asking: HeadlessInteraction())
            #expect(large.json.array?[0]["output"]?.string?.utf8.count == 1 << 20)
            #expect(large.json.array?[0]["dropped"] == .int(3_000_000 - (1 << 20)))
        }
    }

    @Test("Words reach the program as they are, and no shell of the host reads them")
    func words() async throws {
        try await SSHServer.withHost { server, host in
            try server.trust("ed25519")
            let words = ["a b", "$HOME", "`id`", "x;y", "*", "", "it's", "é\u{1B}"]
            let done = try await host.perform(
                "ssh.run",
                ["hosts": "db", "program": "printf", "arguments": .array((["%s\\n"] + words).map { .string($0) })],
                asking: HeadlessInteraction())
            #expect(done.json.array?[0]["output"]?.string == words.map { "\($0)\n" }.joined())
        }
    }

    @Test("Nothing is sent to any host if the grant refuses one of them, and no program that it does not list runs")
    func grants() async throws {
        try await SSHServer.withHost { server, host in
            try server.trust("ed25519")
            let sink = "\(server.folder)/made"
            func run(
                _ layer: Grant.Layer, asking person: any Interaction = ScriptedPerson(says: true)
            ) async throws -> ExitCode {
                let caller = Caller.person(person).narrowed(by: Grant(layer))
                return try await host.session.perform(
                    "ssh.run", ["hosts": "db,dead", "program": "touch", "arguments": [.string(sink)]], as: caller,
                    output: RecordingOutput()
                ).exit
            }
            func layer(
                _ hosts: [String], programs: [String] = ["touch"], actions: [String] = ["ssh.run"]
            ) -> Grant.Layer {
                Grant.Layer(
                    .bundle("b"), effects: .destroys, actions: actions, hosts: .named(hosts), programs: programs)
            }
            let all = ["127.0.0.1:\(server.port)", "127.0.0.1:\(SSHServer.deadPort)"]
            for refused in [
                layer([all[0]]), layer([]), layer(all, programs: ["ls"]), layer(all, actions: []),
                Grant.Layer(.model, hosts: .all, programs: nil),
            ] {
                await #expect(throws: AccessFailure.self) { try await run(refused) }
                #expect(!Files.exists(sink))
            }
            // The person's own call is the agreement; others need it.
            await #expect(throws: InteractionError.self) { try await run(layer(all), asking: HeadlessInteraction()) }
            #expect(!Files.exists(sink))
            #expect(try await run(layer(all)) == .unreachable)
            #expect(Files.exists(sink))
        }
    }

    @Test("A port of this machine leads to one behind a host, until it is stopped, and only for whom both are granted")
    func forward() async throws {
        try await SSHServer.withHost { server, host in
            try server.trust("ed25519")
            let output = RecordingOutput()
            let running = Task {
                try await host.perform(
                    "ssh.forward", ["host": "db", "to": .string("127.0.0.1:\(server.port)"), "port": 0],
                    asking: HeadlessInteraction(), output: output)
            }
            await output.wait { $0.contains { $0.type == "listening" } }
            let address = try #require(output.events.first?.fields["address"]?.string)
            #expect(output.text == "\(address) leads to 127.0.0.1:\(server.port) behind db; Ctrl-C ends it\n")
            // What answers there is the server itself.
            let port = address.split(separator: ":").last ?? ""
            let found = try await SSHServer.shell("ssh-keyscan -t ed25519 -p \(port) 127.0.0.1 2>/dev/null")
            let key = try server.publicKey("host-ed25519")
            #expect(String(decoding: found, as: UTF8.self).contains(key))
            await output.wait { $0.contains { $0.type == "ended" } }
            running.cancel()
            await #expect(throws: CancellationError.self) { try await running.value }
            let declared = try #require(host.composition.registry.actions["ssh.forward"]?.events)
            for event in output.events { #expect(declared.problems(in: event.json).isEmpty, "\(event)") }

            let several = try await host.failure("ssh.forward", ["host": "web*", "to": "22", "port": 0])
            #expect(several.exit == .usage)
            let unreadable = try await host.failure("ssh.forward", ["host": "db", "to": "22x", "port": 0])
            #expect(unreadable.code == "ssh.address" && unreadable.exit == .usage)
            let layer = Grant.Layer(
                .bundle("b"), effects: .destroys, actions: ["ssh.forward"], hosts: .named(["127.0.0.1:\(server.port)"]))
            await #expect(throws: AccessFailure.self) {
                try await host.session.perform(
                    "ssh.forward", ["host": "db", "to": "10.1.2.3:80", "port": 0],
                    as: .person(ScriptedPerson(says: true)).narrowed(by: Grant(layer)), output: RecordingOutput())
            }
        }
    }

    @Test("A passphrase is asked for once for all hosts, and again where it was wrong")
    func passphrase() async throws {
        try await SSHServer.withHost { server, host in
            try server.trust("ed25519")
            _ = try await SSHServer.shell("ssh-keygen -q -p -P '' -N 'open sesame' -f \(server.folder)/user-ed25519")
            let person = ScriptedPerson(["ssh.passphrase": ["wrong", "open sesame"]])
            let done = try await host.perform("ssh.test", ["hosts": "web*,db"], asking: person)
            #expect(done.exit == .done && person.asked == ["ssh.passphrase", "ssh.passphrase"])
            let nobody = try await host.failure("ssh.test", ["hosts": "db"])
            #expect(nobody.exit == .denied && nobody.message.contains("passphrase"))
            // What the vault has is not asked for.
            let vault = try #require(host.composition.registry.optional((any SecretStore).self))
            let name = SecretQuestions.passphraseName("\(server.folder)/user-ed25519")
            try await vault.store(Secret("open sesame"), named: name)
            let kept = try await host.perform("ssh.test", ["hosts": "web*"], asking: HeadlessInteraction())
            #expect(kept.exit == .done)
        }
    }
}
