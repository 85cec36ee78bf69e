import FileKit
import HTTPCore
import HTTPTesting
import JSON
import Testing

@Suite("Actions offered with --tools", .timeLimit(.minutes(5)))
struct ChatToolsTests {
    /// Martlet's own actions that a model may use. A new one here must not take a path, an address or a secret.
    private static let own = ["chat_list", "chat_search", "features", "version"]
    private static let files = ["fs_read", "glob", "grep_search", "ls"]

    private func ask(_ home: ChatHome) async throws -> Program.Run {
        try await home.martlet("ask", "-m", "openai/small-1", "--no-stream", "--tools", "Look")
    }

    @Test("Only the listed actions of this build are offered")
    func offered() async throws {
        try await ChatHome.with(FakeModel.calling([.init("version")])) { home in
            let actions = try await home.martlet("docs", "schema", "--json").output.json().array ?? []
            let reading = actions.filter { $0["effect"] == "reads" }.compactMap { $0["id"]?.string }
            #expect(reading.count > 40 && reading.contains("file.read") && reading.contains("auth.trust.verify"))
            let run = try await ask(home)
            #expect(run.code == 0 && run.output.contains("Done."), "\(run.errors)")
            let request = try JSON(
                parsing: try #require(home.server.record.requests.first { $0.method == "POST" }).body)
            let names = (request["tools"]?.array ?? []).compactMap { $0["function"]?["name"]?.string }
            #expect(names.sorted() == (Self.own + Self.files).sorted())
            for name in reading.map({ $0.replacing(".", with: "_") }) {
                #expect(names.contains(name) == Self.own.contains(name), "\(name)")
            }
        }
    }

    @Test(
        "An action that is not listed cannot be called by its name",
        arguments: [
            ("file_read", ["path": "SECRET"]), ("file.read", ["path": "SECRET"]),
            ("gateway_status", ["address": "http://127.0.0.1:PORT"]), ("auth_trust_verify", ["host": "127.0.0.1:PORT"]),
            ("auth_secret_get", ["name": "x"]), ("config_show", [:]), ("runs_list", [:]),
        ] as [(String, JSON)])
    func refused(tool: String, input: JSON) async throws {
        let away = try await ScriptedServer.run({ try $0.answer(200, [:], "{}") }) { other in
            let text = input.text().replacing("PORT", with: "\(other.port)")
            try await withHome { outside in
                try write("the diary", to: "\(outside)/secret")
                let placed = try JSON(parsing: text.replacing("SECRET", with: "\(outside)/secret"))
                try await ChatHome.with(FakeModel.calling([.init(tool, placed)])) { home in
                    let run = try await ask(home)
                    #expect(run.output.contains("Done."), "\(run.errors)")
                    let asked = home.server.record.requests.filter { $0.method == "POST" }
                    #expect(asked.count == 2)
                    let told = String(decoding: asked.last?.body ?? [], as: UTF8.self)
                    #expect(told.contains("there is no tool") && !told.contains("the diary"), "\(told)")
                }
            }
            return other.record.connections.count
        }
        #expect(away == 0)
    }
}
