import JSON
import Testing

@Suite("A slip of the finger", .timeLimit(.minutes(5)))
struct SlipTests {
    @Test(
        "is refused before anything is sent, in every group that has a default",
        arguments: [
            ("chat lisst", "chat list"), ("gateway staus", "gateway status"), ("auth secrt", "auth secret"),
            ("auth secret gett x", "auth secret get"), ("auth add", "auth server add"), ("runs lst", "runs list"),
            ("run expct", "run expect"), ("chat lisst -m nobody/nothing", "chat list"),
            ("chat shwo k7f3qd8z", "chat show"), ("auth secret lst", "auth secret list"), ("--hlep", "--help"),
        ])
    func refused(words: String, meant: String) async throws {
        try await withHome { home in
            let run = try await Program.martlet.shell("$M \(words)", home: home)
            #expect(run.code == 2)
            #expect(run.errors.contains("did you mean '\(meant)'"), "\(run.errors)")
        }
    }

    @Test("is none where the word is a server's name, a file's, or stands after two hyphens") func meant() async throws
    {
        try await withHome { home in
            let server = "profiles.secrt.server"
            _ = try await Program.martlet.run(["config", "set", server, "https://127.0.0.1:1"], home: home)
            let named = try await Program.martlet.run(["auth", "secrt"], home: home)
            #expect(!named.errors.contains("did you mean"), "\(named.errors)")
            try write("name: b\nsteps: [{id: v, action: version}]\n", to: "\(home)/expct")
            let run = try await Program.martlet.run(["run", "expct"], home: home)
            #expect(!run.errors.contains("did you mean 'run expect'"), "\(run.errors)")
            let sent = try await Program.martlet.run(["gateway", "--", "staus"], home: home)
            #expect(sent.code == 4, "\(sent.errors)")
        }
    }

    @Test("in --only is refused before anything is done", arguments: ["version", "features", "help", "chat list"])
    func only(words: String) async throws {
        try await withHome { home in
            let run = try await Program.martlet.shell("$M --only auht,chat \(words)", home: home)
            #expect(run.code == 2 && run.output.isEmpty)
            #expect(run.errors.contains("auht is not a feature of this build; did you mean 'auth'?"), "\(run.errors)")
        }
    }

    @Test("in the address of a gateway is not answered with the end of one's own") func otherGateway() async throws {
        try await withHome { home in
            let run = try await Program.martlet.run(["gateway", "status", "nosuch.invalid", "--json"], home: home)
            #expect(run.code == 4)
            #expect(try run.output.json()["mend"]?.string?.contains("gateway stop") == false)
        }
    }

    @Test("that leaves nothing to say is wrong usage, and an answer given beforehand is said") func nothing()
        async throws
    {
        try await withHome { home in
            let empty = try await Program.martlet.shell("$M ask </dev/null", home: home)
            #expect(empty.code == 2)
            #expect(empty.errors.contains("there is no message to send"))
            try write("{'chat.message': 'hello there'}", to: "\(home)/a.json")
            // Nobody has that model, which is told only once there is something to say.
            let given = try await Program.martlet.shell(
                "$M --answers a.json ask -m nobody/nothing </dev/null", home: home)
            #expect(!given.errors.contains("no message to send"), "\(given.errors)")
            #expect(given.errors.contains("nobody"), "\(given.errors)")
        }
    }
}
