import FileKit
import HTTPClient
import HTTPCore
import JSON
import ProcessKit
import Testing

@Suite("Permanent deletion", .timeLimit(.minutes(5)))
struct ChatPurgeTests {
    private static let alone = ["OLLAMA_HOST": "http://127.0.0.1:1"]
    private static let word = "zanzibar"

    /// Asks the gateway in the same process, which searches a file for the word, and returns the conversation.
    private func ask(_ home: GatewayHome, _ words: String) async throws -> String {
        let folder = "\(home.path)/project"
        try write("a line without it\n", to: "\(folder)/notes.txt")
        let asked = try await Program.martlet.shell(
            "cd \(folder) && $M ask --model martlet --json '\(words)'", home: home.path,
            adding: home.variables.merging(Self.alone) { $1 })
        #expect(asked.code == 0, "\(asked.errors)")
        return try #require(try asked.output.json()["session_id"]?.string)
    }

    /// The files of the home that contain the word.
    private func traces(_ home: GatewayHome) async throws -> Set<String> {
        let found = try await Program.martlet.shell("grep -rla \(Self.word) \(home.path) || true", home: home.path)
        let names = found.output.split(separator: "\n").compactMap { $0.split(separator: "/").last }
        return Set(names.map { String($0.prefix { $0 != "-" }) })
    }

    @Test("A removed conversation is in no file of the history or the gateway, and the others stay")
    func now() async throws {
        try await GatewayHome.with { home in
            let kept = try await ask(home, "find the word swallow")
            let gone = try await ask(home, "find the word \(Self.word)")
            #expect(try await traces(home) == ["chat.db", "gateway.db"])
            let asked = try await home.martlet("chat", "delete", gone, "--now", "--no-input")
            #expect(asked.code == 6, "\(asked.output)\(asked.errors)")
            #expect(asked.errors.contains("(2 messages)"), "\(asked.errors)")
            let soft = try await home.martlet("chat", "delete", gone)
            #expect(soft.code == 0, "\(soft.errors)")
            #expect(try await traces(home) == ["chat.db", "gateway.db"], "deleting alone takes nothing away")
            let done = try await home.martlet("chat", "delete", gone, "--now", "--yes")
            #expect(done.code == 0, "\(done.errors)")
            #expect(try await traces(home) == [])
            let shown = try await home.martlet("chat", "show", kept)
            #expect(shown.code == 0 && shown.output.contains("swallow"), "\(shown.errors)")
            let restored = try await home.martlet("chat", "restore", gone)
            #expect(restored.code == 2, "\(restored.output)")
            let sessions = try await home.martlet("gateway", "session", "list", "--json")
            #expect(try sessions.output.json().array?.count == 1)
            // A session that is already gone does not prevent the removal.
            let project = try await home.martlet("gateway", "project", "list", "--json").output.json()
            let id = try #require(project[0]?["id"]?.string)
            #expect(try await home.martlet("gateway", "project", "remove", id, "--yes").code == 0)
            let last = try await home.martlet("chat", "delete", kept, "--now", "--yes")
            #expect(last.code == 0, "\(last.errors)")
        }
    }

    @Test("'data purge' also removes what was deleted before, with replaced copies")
    func purge() async throws {
        try await GatewayHome.with { home in
            let gone = try await ask(home, "find the word \(Self.word)")
            let saved = try await home.martlet("data", "backup", "\(home.path)/saved")
            #expect(saved.code == 0, "\(saved.errors)")
            let back = try await home.martlet("data", "restore", "\(home.path)/saved", "--yes")
            #expect(back.code == 0, "\(back.errors)")
            let removed = try await home.martlet("data", "purge", "--no-input")
            #expect(removed.code == 6 && removed.errors.contains("old copies. Continue?"), "\(removed.errors)")
            // Copies that a user saved elsewhere are theirs.
            for store in ["chat.history", "gateway.database"] { try Files.remove("\(home.path)/saved/\(store).backup") }
            #expect(try await home.martlet("chat", "delete", gone).code == 0)
            let before = try await traces(home)
            #expect(before.isSuperset(of: ["chat.db", "gateway.db", "chat.history.backup"]), "\(before)")
            let purged = try await home.martlet("data", "purge", "--yes", "--json")
            #expect(purged.code == 0, "\(purged.errors)")
            let rows = try purged.output.json().array ?? []
            #expect(rows.first { $0["store"] == "chat.history" }?["removed"] == 1, "\(rows)")
            #expect(try await traces(home) == [])
        }
    }

    @Test("A removal is refused while a gateway runs, which is named, and nothing is lost")
    func held() async throws {
        try await GatewayHome.with { home in
            let id = try await ask(home, "find the word \(Self.word)")
            try await home.serve { gateway in
                // Until its sessions are requested, it opens nothing.
                #expect(try await home.get("\(gateway.address)/v1/sessions").status == .ok)
                let refused = try await home.martlet("data", "purge", "--yes")
                #expect(
                    refused.code != 0 && refused.errors.contains("gateway.database: the running gateway"),
                    "\(refused.errors)")
                let kept = try await home.martlet("chat", "delete", id, "--now", "--yes")
                #expect(kept.code != 0 && kept.errors.contains("is open in "), "\(kept.errors)")
            }
            #expect(try await home.martlet("chat", "show", id).output.contains(Self.word))
            #expect(try await home.martlet("chat", "delete", id, "--now", "--yes").code == 0)
            #expect(try await traces(home) == [])
        }
    }
}
