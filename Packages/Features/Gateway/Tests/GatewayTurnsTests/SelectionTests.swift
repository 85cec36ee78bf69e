import Capabilities
import GatewayStore
import JSON
import Testing
import TurnLoop

@testable import GatewayTurns

@Suite("Selecting tools")
struct SelectionTests {
    private func offered(_ selection: ToolSelection?, inSession: Bool) async throws -> (tools: [String], told: [String])
    {
        let model = ScriptedModel()
        var result: (tools: [String], told: [String]) = ([], [])
        let sources = [TestTools("a", [("x.y", .reads), ("z", .reads)]), TestTools("b", [("z", .reads)])]
        try await Workshop.run(model, sources: sources) { workshop in
            let heard = Heard()
            var input = workshop.input("Go")
            if inSession {
                let session = try await workshop.store.createSession(
                    NewSession(project: workshop.project.id, selection: selection ?? ToolSelection()))
                input.session = session.id
            } else {
                input.selection = selection
            }
            _ = try await workshop.turns.run(input) { heard.receive($0) }
            result = (model.requests[0].tools.map(\.name), heard.notices)
        }
        return result
    }

    @Test("all tools are offered where none are selected, the same name under its source's")
    func all() async throws {
        let tools = try await offered(nil, inSession: false).tools
        #expect(Set(["fs_read", "x_y", "z", "b_z"]).isSubset(of: tools))
    }

    @Test("sources and tools are selected by the request or by the session", arguments: [true, false])
    func selected(inSession: Bool) async throws {
        let servers = ToolSelection(servers: ["b"])
        #expect(try await offered(servers, inSession: inSession).tools == ["z"])
        let tools = ToolSelection(tools: ["x.y", "fs_read"])
        #expect(try await offered(tools, inSession: inSession).tools == ["fs_read", "x_y"])
        let nothing = ToolSelection(servers: [])
        #expect(try await offered(nothing, inSession: inSession).tools == [])
    }

    @Test("the preferred source keeps the name")
    func priority() async throws {
        let selection = ToolSelection(servers: ["a", "b"], priority: ["b", "b", "unknown"])
        #expect(try await offered(selection, inSession: false).tools == ["z", "x_y", "a_z"])
    }

    @Test("a source that does not exist is told to the client")
    func unknown() async throws {
        let selection = ToolSelection(servers: ["flies"])
        let told = try await offered(selection, inSession: false).told
        #expect(told == ["there are no tools of 'flies' here; did you mean 'files'?"])
    }

    @Test("a request that selects a tool that nobody has is refused, and nothing begins")
    func unknownTool() async throws {
        let model = ScriptedModel("scripted", .say("done"))
        try await Workshop.run(model, sources: [TestTools("a", [("x.y", .reads)])]) { workshop in
            var input = workshop.input("Go")
            input.selection = ToolSelection(tools: ["x.y", "fs.read", "x.z"])
            let kind = try await refusal { _ = try await workshop.turns.run(input) { _ in } }
            #expect(kind == .unknownTool && model.requests.isEmpty)
            #expect(try await workshop.store.stats().sessions == 0)
        }
    }

    @Test("nobody is refused for a tool that a source may have which does not answer now")
    func silentSource() async throws {
        try await Workshop.run(ScriptedModel("scripted", .say("done")), sources: [SilentTools()]) { workshop in
            var input = workshop.input("Go")
            input.selection = ToolSelection(tools: ["x.z"])
            let report = try await workshop.turns.run(input) { _ in }
            #expect(report.text == "done")
        }
    }

    @Test("a tool that is not offered cannot be called")
    func notOffered() async throws {
        let tools = TestTools()
        let model = ScriptedModel("scripted", .call([.named("look_up")]), .say("no"))
        try await Workshop.run(model, sources: [tools]) { workshop in
            var input = workshop.input("Go")
            input.selection = ToolSelection(tools: ["change"])
            let report = try await workshop.turns.run(input) { _ in }
            #expect(tools.done == [])
            #expect(report.outcome.failedCalls == 1)
        }
    }

    @Test("calls that only read are in the audit where the request wants it", arguments: [true, false])
    func auditLog(isWanted: Bool) async throws {
        let model = ScriptedModel("scripted", .call([.named("look_up")]), .say("done"))
        try await Workshop.run(model, sources: [TestTools()]) { workshop in
            var input = workshop.input("Go")
            input.selection = ToolSelection(auditLog: isWanted)
            let session = try #require(try await workshop.turns.run(input) { _ in }.place.session)
            let entries = try await workshop.audit(session)
            #expect(entries.map(\.subject) == (isWanted ? ["look.up"] : []))
        }
    }

    @Test("sources say what they offer; without a project there are no files")
    func offers() async throws {
        try await Workshop.run(ScriptedModel(), sources: [TestTools("a")]) { workshop in
            let all = try await workshop.turns.toolOffers(project: workshop.project.id)
            #expect(all.map(\.source) == ["files", "a"])
            #expect(all[0].tools.map(\.name).contains("fs.read"))
            #expect(try await workshop.turns.toolOffers().map(\.source) == ["a"])
            #expect(try await refusal { _ = try await workshop.turns.toolOffers(project: "none") } == .projectNotFound)
        }
    }
}

/// A source that cannot say which tools it has.
private final class SilentTools: ToolSource {
    let name = "silent"

    func tools() async throws -> [ToolDescription] { throw InteractionError.unanswered(id: "x", prompt: "x") }
    func run(_ call: ToolCall) async throws -> ToolResult { throw CancellationError() }
}
