import ChatProviders
import CoreTesting
import HTTPTesting
import JSON
import OpenAIDialect
import Registry
import Screens
import Testing

@testable import Chat

@Suite("Panel of who can answer", .timeLimit(.minutes(5)))
struct AnswererScreenTests {
    private func rows(_ block: Block) -> [JSONObject] {
        if case .table(let table) = block.content, case .all(let rows) = table.rows { return rows }
        return []
    }

    @Test("It has the servers that were found on this machine and the models of this program, and leads to both")
    func found() async throws {
        try await ScriptedServer.run {
            try $0.reply(#"{"data":[{"id":"tiny"}]}"#)
        } during: { server in
            try await ScreenDesk.run { desk in
                let local = LocalServer(id: "ollama", name: "Ollama", port: server.port, quirks: .ollama)
                let block = try await ChatServices.$localServers.withValue([local]) {
                    try await desk.test.open("chat.answerers") { view in try await view.block() }
                }
                #expect(
                    rows(block) == [
                        ["id": "ollama", "place": "found on this machine", "name": "Ollama"],
                        ["id": "dictated", "place": "in this program", "name": "The dictated model"],
                    ])
                let link = try #require(block.allLinks.first)
                #expect(link.target == .screen("chat.new"))
                #expect(link.arguments(for: rows(block)[0]) == ["model": "ollama"])
            }
        }
    }

    @Test("It is on the home screen, and a server that does not answer is not there")
    func absent() async throws {
        try await ScreenDesk.run { desk in
            let screen = desk.test.composition.registry.screens["chat.answerers"]
            #expect(screen?.placement == .home)
            let local = LocalServer(id: "ollama", name: "Ollama", port: 1, quirks: .ollama)
            let block = try await ChatServices.$localServers.withValue([local]) {
                try await desk.test.open("chat.answerers") { view in try await view.block() }
            }
            #expect(rows(block).map { $0["id"] } == ["dictated"])
        }
    }
}
