import JSON
import Testing

@Suite("Who may do what", .timeLimit(.minutes(5)))
struct AccessTests {
    private func allowed(_ words: [String], in home: String) async throws -> [String] {
        let run = try await Program.martlet.run(["access", "show", "--json"] + words, home: home)
        #expect(run.code == 0, "\(run.errors)")
        return try run.output.json().array?.filter { $0["access"] == "allowed" }
            .compactMap { $0["action"]?.string } ?? []
    }

    @Test("is everything for the person, and for a model these few actions and no other")
    func model() async throws {
        try await withHome { home in
            #expect(
                try await allowed(["--as", "model"], in: home).sorted()
                    == ["chat.list", "chat.search", "features", "version"])
            let person = try await allowed([], in: home)
            for id in [
                "auth.secret.get", "config.set", "chat.send", "run.start", "gateway.token.show", "gateway.token.create",
                "data.restore",
            ] {
                #expect(person.contains(id), "\(id)")
            }
            let run = try await Program.martlet.run(["access", "show", "--json"], home: home)
            #expect(try run.output.json().array?.count == person.count, "the person may do everything")
        }
    }

    @Test("has the rules that hold in a folder, whoever asked, each with its place, and each is taken back by its id")
    func rules() async throws {
        try await withHome { home in
            for rule in [("chat", "deny"), ("gateway", "ask")] {
                let run = try await Program.martlet.run(
                    [
                        "config", "set", "\(rule.0).approvals",
                        #"[{"verdict": "\#(rule.1)", "tool": "\#(rule.0).tool"}]"#,
                    ], home: home)
                #expect(run.code == 0, "\(run.errors)")
            }
            #expect(
                try await Program.martlet.run(
                    ["gateway", "project", "add", home, "--allow", "multi.edit"], home: home
                ).code == 0)
            func shown(_ words: [String]) async throws -> [JSON] {
                let run = try await Program.martlet.run(words + ["--json"], home: home)
                #expect(run.code == 0, "\(run.errors)")
                return try run.output.json().array ?? []
            }
            let access = try await shown(["access", "show", "--as", "model"])
            let tools = access.compactMap { $0["action"]?.string }.filter { $0.hasPrefix("tool ") }
            #expect(Set(tools) == ["tool chat.tool", "tool gateway.tool", "tool multi.edit"])
            let rows = try await shown(["chat", "approvals"])
            #expect(rows.map { $0["verdict"] } == ["deny", "ask", "allow"])
            for row in rows {
                let run = try await Program.martlet.run(
                    ["chat", "disallow", row["id"]?.string ?? ""], home: home)
                #expect(run.code == 0, "\(run.errors)")
            }
            #expect(try await shown(["chat", "approvals"]) == [])
        }
    }

    @Test("is for a bundle what it says, and for a token the routes of its scopes")
    func holders() async throws {
        try await withHome { home in
            let bundle = "\(home)/nightly.yaml"
            let text =
                "name: nightly\npermissions: {effects: writes, actions: [auth.secret.get]}\nsteps: [{action: version}]\n"
            try write(text, to: bundle)
            let permitted = try await allowed(["--as", "bundle:\(bundle)"], in: home)
            #expect(permitted.contains("chat.send") && permitted.contains("auth.secret.get"))
            for id in ["data.purge", "config.set", "auth.secret.remove"] { #expect(!permitted.contains(id), "\(id)") }
            let refused = try await Program.martlet.run(
                ["access", "show", "config.set", "--as", "bundle:\(bundle)", "--json"], home: home)
            #expect(try refused.output.json()[0]?["mend"] == "add \"config.set\" to permissions.actions")
            #expect(
                try await Program.martlet.run(
                    ["gateway", "token", "create", "reader", "--scope", "read"], home: home
                ).code == 0)
            let routes = try await allowed(["--as", "token:reader"], in: home)
            #expect(routes.contains("GET /v1/sessions") && !routes.contains("POST /v1/chat/completions"))
            #expect(!routes.contains { $0.contains(".") && !$0.contains("/") }, "it does no action: \(routes)")
            for asker in ["nobody", "token:nobody", "bundle:\(home)/none.yaml", "bundle"] {
                let run = try await Program.martlet.run(["access", "show", "--as", asker], home: home)
                #expect(run.code == 2, "\(asker): \(run.errors)")
            }
        }
    }

    @Test("of others is looked at by nobody but the person")
    func onlyPerson() async throws {
        try await withHome { home in
            let bundle = "\(home)/spy.yaml"
            try write(
                "name: spy\nsteps: [{action: access.show, with: {as: \"bundle:/etc/passwd\"}}]\n", to: bundle)
            let run = try await Program.martlet.run(["run", bundle], home: home)
            #expect(run.code == 2 && run.output.contains("only you may see"), "\(run.output)\(run.errors)")
        }
    }

    @Test("is told with the rule, and with what would allow it")
    func rule() async throws {
        try await withHome { home in
            let run = try await Program.martlet.run(
                ["access", "show", "auth.secret", "--as", "model", "--json"], home: home)
            let rows = try run.output.json().array ?? []
            #expect(!rows.isEmpty && rows.allSatisfy { $0["access"] == "denied" })
            let get = try #require(rows.first { $0["action"] == "auth.secret.get" })
            #expect(get["rule"] == "not offered to models")
            #expect(get["mend"] == "do it yourself: martlet auth secret get")
            let none = try await Program.martlet.run(["access", "show", "auth.sec"], home: home)
            #expect(none.code == 0 && none.errors.contains("no action id begins with that"))
        }
    }
}
