import FileKit
import Glibc
import JSON
import ProcessKit
import SSHTesting
import Testing

@Suite("Commands on other machines", .timeLimit(.minutes(5)))
struct SSHTests {
    /// Runs a server, and a home whose settings of SSH have it as `web1` and `web2`, an RSA host as `old`, and `dead`, which does
    /// not answer.
    private func withServer(
        host: [String] = ["ed25519"],
        _ body: @Sendable (SSHServer, _ home: String, _ variables: [String: String]) async throws -> Void
    ) async throws {
        try await SSHServer.run(host: host) { server in
            try await withHome { home in
                let name = String(decoding: try await SSHServer.shell("id -un"), as: UTF8.self).lines[0]
                let text = """
                    Host dead
                      Port 1
                    Host web1 web2
                    Host *
                    \(SSHServer.configuration(port: server.port, in: server.folder, user: name))
                    """
                try write(text, to: "\(home)/ssh-config")
                try await body(server, home, ["MARTLET_SSH_CONFIG": "\(home)/ssh-config", "XDG_RUNTIME_DIR": home])
            }
        }
    }

    @Test("run side by side, with their lines, what went wrong, and an exit code that says it")
    func fleet() async throws {
        try await withServer { server, home, variables in
            let words = ["ssh", "run", "web*,dead", "--", "sh", "-c", "echo $0; echo no >&2", "-x"]
            let unknown = try await Program.martlet.run(words, home: home, adding: variables)
            #expect(unknown.code == 3 && unknown.output == "")
            #expect(unknown.errors.contains("accept it with martlet ssh trust web1 --fingerprint SHA256:"))
            let one = try await Program.martlet.run(["ssh", "test", "web1", "--json"], home: home, adding: variables)
            #expect(one.code == 3 && one.errors.contains(#""code":"ssh.unknown-host""#), "\(one.errors)")
            // The command that the message names.
            let command = try #require(
                unknown.errors.lines.first { $0.contains("web1: ") }?.split(separator: "martlet ").last)
            let trust = try await Program.martlet.shell("$M \(command)", home: home, adding: variables)
            #expect(trust.code == 0, "\(trust.errors)")

            let run = try await Program.martlet.run(words, home: home, adding: variables)
            #expect(run.code == 4)
            #expect(run.output.lines.sorted() == ["web1  -x", "web1  no", "web2  -x", "web2  no"])
            #expect(run.errors.contains("on 3 hosts: web1, web2, dead"))
            #expect(run.errors.contains("2 of 3 hosts succeeded; unreachable: dead"))
            let failed = try await Program.martlet.run(
                ["ssh", "run", "web1", "ls", "/no-such-file"], home: home, adding: variables)
            #expect(failed.code == 5 && failed.errors.contains("ended with exit code 2"))
            let lines = try await Program.martlet.run(
                ["ssh", "run", "web*", "--format", "ndjson", "--", "echo", "hi"], home: home, adding: variables)
            let events = try lines.output.lines.map { try JSON(parsing: $0) }
            #expect(events.count { $0["type"] == "output" && $0["text"] == "hi\n" } == 2)
            #expect(events.count { $0["type"] == "host" && $0["state"] == "ok" } == 2)
            #expect(try await Program.martlet.run(["ssh", "run", "x*", "ls"], home: home, adding: variables).code == 2)
        }
    }

    @Test("are steps of bundles, which reach only what they list") func bundle() async throws {
        try await withServer { server, home, variables in
            try server.trust("ed25519")
            let root = #filePath.split(separator: "/").dropLast(3).map { "/\($0)" }.joined()
            let text = String(
                decoding: try Files.read("\(root)/Apps/examples/bundles/host-check.yaml", limit: 1 << 16), as: UTF8.self
            )
            try write(text, to: "\(home)/all.yaml")
            // A star covers no address of this machine.
            let refused = try await Program.martlet.run(
                ["run", "all.yaml", "--input", "hosts=web*"], home: home, adding: variables)
            #expect(refused.code == 2 && (refused.output + refused.errors).contains("may not connect to 127.0.0.1"))
            let own = text.split(separator: #"["*"]"#, omittingEmptySubsequences: false).joined(
                separator: "[127.0.0.1]")
            try write(own, to: "\(home)/own.yaml")
            let run = try await Program.martlet.run(
                ["run", "own.yaml", "--input", "hosts=web*", "--json"], home: home, adding: variables)
            #expect(run.code == 0, "\(run.output)\(run.errors)")
            #expect(try run.output.json()["outputs"]?["hosts"] == 2)
            let dead = try await Program.martlet.run(
                ["run", "own.yaml", "--input", "hosts=web1,dead"], home: home, adding: variables)
            #expect(dead.code == 4 && (dead.output + dead.errors).contains("Connection refused"))
        }
    }

    @Test("ask about the keys of unknown hosts on a terminal, together") func question() async throws {
        try await withServer { server, home, variables in
            let script =
                "export \(variables.map { "\($0.key)=\($0.value)" }.joined(separator: " ")); "
                + "$M ssh run 'web*' -- echo hi; echo code $?"
            try await Conversation.with(.martlet, script, home: home) { talk in
                try await talk.wait(for: "[y/N]")
                #expect(talk.shown.contains("ED25519 SHA256:"))
                #expect(talk.shown.contains("Trust them and add them to your known hosts?"))
                try await talk.press("y\n")
                try await talk.wait(for: "code 0")
                #expect(talk.shown.contains("web1  hi") && talk.shown.contains("web2  hi"))
            }
            #expect(Files.exists(server.known))
        }
    }

    @Test(
        "end when they are interrupted, by libssh2 and by the system's ssh, and nothing is left",
        arguments: ["ed25519", "rsa"])
    func interrupted(key: String) async throws {
        try await withServer(host: [key]) { server, home, variables in
            try server.trust(key)
            var command = Program.martlet.command(
                ["ssh", "run", "web1", "--", "sh", "-c", "echo $$; exec sleep 1000"], home: home, adding: variables)
            command.output = .pipe
            let status = try await Launcher.standalone.withChild(command) { child in
                let line = try await child.output.nextLine()
                #expect(line.flatMap { Int(String(decoding: $0, as: UTF8.self)) } != nil)
                child.send(.interrupt)
                return try await child.exitStatus()
            }
            #expect(status == .exited(130))
            #expect(try Files.list(home).allSatisfy { !$0.name.hasPrefix("martlet-ssh-") })
        }
    }
}
