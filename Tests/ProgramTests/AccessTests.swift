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
            #expect(none.code == 0 && none.errors.contains("no action's id begins so"))
        }
    }
}
