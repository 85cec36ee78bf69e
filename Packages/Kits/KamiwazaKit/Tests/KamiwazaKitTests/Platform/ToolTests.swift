import Capabilities
import HTTPClient
import HTTPCore
import KamiwazaKit
import KamiwazaTesting
import Testing

@Suite("Tools", .timeLimit(.minutes(5)))
struct ToolTests {
    private static let tools = [
        KamiwazaSetup.Tool("1f", name: "web search"), KamiwazaSetup.Tool("2", name: "old", status: "STOPPED"),
    ]

    @Test("Only deployed tools are listed, by either list", arguments: [true, false])
    func lists(_ isOlder: Bool) async throws {
        var setup = KamiwazaSetup()
        (setup.tools, setup.toolList) = (Self.tools, isOlder ? .discover : .extensions)
        try await Lab.session(setup) { server, api, _ in
            let tools = try await api.tools()
            #expect(tools.map(\.name) == ["web search"])
            #expect(tools.map(\.url.text) == ["\(server.origin)/runtime/tools/1f"])
            #expect(server.count(.get, "/api/extensions") == (isOlder ? 0 : 1))
            #expect(server.requests.last?.credential == .accessToken)
        }
    }

    @Test("A platform that has neither list has no tools, and other failures are not taken for that")
    func neither() async throws {
        var setup = KamiwazaSetup()
        (setup.tools, setup.toolList) = (Self.tools, .nowhere)
        try await Lab.session(setup) { server, api, _ in
            let none = try await api.tools()
            #expect(none.isEmpty)
            #expect(server.count(.get, "/api/tool/discover") == 1 && server.count(.get, "/api/extensions") == 1)
            server.fail("/api/extensions", with: .status(.forbidden))
            let forbidden = await Lab.failure { _ = try await api.tools() }
            #expect(forbidden?.kind == .forbidden)
            server.fail("/api/tool/discover", with: .webPage())
            let page = await Lab.failure { _ = try await api.tools() }
            #expect(page?.kind == .badAnswer)
        }
    }

    @Test("Addresses may be missing, relative or wrong, and members may be missing")
    func shapes() async throws {
        try await Lab.session { server, api, _ in
            let body = """
                {"servers": [{"deployment_id": 7, "name": "a b", "url": null, "status": "DEPLOYED"},
                 {"deployment_id": "x/y", "status": "DEPLOYED"}, {"name": "no id", "status": "DEPLOYED"},
                 {"deployment_id": "r", "url": "/runtime/tools/r/mcp", "status": "DEPLOYED", "capabilities": [1]},
                 {"deployment_id": "bad", "url": "ftp://a.example", "status": "DEPLOYED"},
                 {"deployment_id": "none", "url": "https://a.example"}, 5], "total": "7"}
                """
            server.fail("/api/tool/discover", with: .json(bytes: Array(body.utf8)))
            let tools = try await api.tools()
            #expect(tools.map(\.id) == ["7", "x/y", "r"] && tools.map(\.name) == ["a b", "x/y", "r"])
            #expect(
                tools.map { $0.url.text.dropFirst(server.origin.count) } == [
                    "/runtime/tools/7", "/runtime/tools/x%2Fy", "/runtime/tools/r/mcp",
                ])
        }
    }

    @Test("Of extensions only tools that run are tools")
    func extensions() async throws {
        var setup = KamiwazaSetup()
        setup.toolList = .extensions
        try await Lab.session(setup) { server, api, _ in
            let body = """
                [{"name": "a", "type": "tool", "phase": "Running", "endpoints": {"external": "https://t.example/a"}},
                 {"name": "b", "type": "tool", "phase": "Failed"}, {"name": "c", "type": "app", "phase": "Running"},
                 {"name": "d", "type": "tool", "phase": "Provisioning", "ready": true, "endpoints": null},
                 {"name": "e", "type": "tool", "phase": "Running", "ready": false}, {"type": "tool", "ready": true}]
                """
            server.fail("/api/extensions", with: .json(bytes: Array(body.utf8)))
            let tools = try await api.tools()
            #expect(tools.map(\.name) == ["a", "d"] && tools.map(\.id) == ["a", "d"])
            #expect(tools.map(\.url.text) == ["https://t.example/a", "\(server.origin)/runtime/tools/d"])
        }
    }
}
