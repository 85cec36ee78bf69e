import Capabilities
import CoreTesting
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

    @Test("Without a selection all tools are offered; equal names get their source's name")
    func all() async throws {
        let tools = try await offered(nil, inSession: false).tools
        #expect(Set(["fs_read", "x_y", "z", "b_z"]).isSubset(of: tools))
    }

    @Test("The request or the session selects sources and tools", arguments: [true, false])
    func selected(inSession: Bool) async throws {
        let servers = ToolSelection(servers: ["b"])
        #expect(try await offered(servers, inSession: inSession).tools == ["z"])
        let tools = ToolSelection(tools: ["x.y", "fs_read"])
        #expect(try await offered(tools, inSession: inSession).tools == ["fs_read", "x_y"])
        let nothing = ToolSelection(servers: [])
        #expect(try await offered(nothing, inSession: inSession).tools == [])
    }

    @Test("The preferred source keeps the name")
    func priority() async throws {
        let selection = ToolSelection(servers: ["a", "b"], priority: ["b", "b", "unknown"])
        #expect(try await offered(selection, inSession: false).tools == ["z", "x_y", "a_z"])
    }

    @Test("An unknown source is reported to the client")
    func unknown() async throws {
        let selection = ToolSelection(servers: ["flies"])
        let told = try await offered(selection, inSession: false).told
        #expect(told == ["there is no tool source 'flies' here; did you mean 'files'?"])
    }

    @Test("A request that selects an unknown tool is refused, and nothing starts")
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

    /// A tool that wants to know something of the person, as a server's does.
    private final class AskingTools: ToolSource {
        let name = "asking"
        func tools() async throws -> [ToolDescription] {
            [ToolDescription(name: "ask", summary: "Asks", input: ["type": "object"], effect: .reads)]
        }
        func run(_ call: ToolCall) async throws -> ToolResult {
            let answered = try? await Caller.current?.interaction.confirm("asking.yes", "Yes?")
            return ToolResult(call: call.id, content: answered.map { "answered \($0)" } ?? "nobody answered")
        }
    }

    @Test("Whoever sits where the gateway runs is not asked what a tool wants to know of its client")
    func unattended() async throws {
        let call = ToolCall(id: "c", name: "ask", input: [:])
        let model = ScriptedModel("scripted", .call([call]), .say("done"))
        try await Workshop.run(model, sources: [AskingTools()]) { workshop in
            let person = ScriptedPerson(says: true)
            let input = workshop.input("Go")
            try await Caller.$current.withValue(.person(person)) {
                _ = try await workshop.turns.run(input) { _ in }
            }
            #expect(person.asked.isEmpty)
            let results = model.requests.last?.messages.flatMap(\.parts).compactMap { part -> String? in
                if case .result(let result) = part { result.content } else { nil }
            }
            #expect(results == ["nobody answered"])
        }
    }

    @Test("A bare word that fits the tools of two sources is refused, and with its source or fewer sources it is not")
    func ambiguousTool() async throws {
        let sources: [any ToolSource] = [TestTools("a", [("look", .reads)]), TestTools("b", [("look", .reads)])]
        let model = ScriptedModel("scripted", .say("done"), .say("done"))
        try await Workshop.run(model, sources: sources) { workshop in
            var input = workshop.input("Go")
            input.selection = ToolSelection(tools: ["look"])
            let kind = try await refusal { _ = try await workshop.turns.run(input) { _ in } }
            #expect(kind == .invalid && model.requests.isEmpty)
            input.selection = ToolSelection(tools: ["b/look"])
            _ = try await workshop.turns.run(input) { _ in }
            #expect(model.requests[0].tools.count == 1)
            input.selection = ToolSelection(servers: ["a"], tools: ["look"])
            _ = try await workshop.turns.run(input) { _ in }
            #expect(model.requests[1].tools.count == 1)
        }
    }

    @Test("A tool is not refused while a source that may have it does not respond")
    func silentSource() async throws {
        try await Workshop.run(ScriptedModel("scripted", .say("done")), sources: [SilentTools()]) { workshop in
            var input = workshop.input("Go")
            input.selection = ToolSelection(tools: ["x.z"])
            let report = try await workshop.turns.run(input) { _ in }
            #expect(report.text == "done")
        }
    }

    @Test("A tool that is not offered cannot be called")
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

    @Test("Calls that only read are in the audit log if the request asks for it", arguments: [true, false])
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

    @Test("Sources list their tools; without a project there are no file tools")
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

/// A source that cannot list its tools.
private final class SilentTools: ToolSource {
    let name = "silent"

    func tools() async throws -> [ToolDescription] { throw InteractionError.unanswered(id: "x", prompt: "x") }
    func run(_ call: ToolCall) async throws -> ToolResult { throw CancellationError() }
}
