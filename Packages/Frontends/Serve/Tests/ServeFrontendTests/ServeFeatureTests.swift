import Capabilities
import CoreTesting
import JSON
import Registry
import ServeTesting
import Settings
import Testing

@testable import ServeFrontend

@Suite("The feature", .timeLimit(.minutes(5)))
struct ServeFeatureTests {
    @Test("keeps the rules of every feature") func conforms() async {
        await #expect(processExitsWith: .success) {
            try await TemporaryDirectory.run { folder in
                let violations = try await FeatureConformance.violations(
                    of: ServeFeature.self, in: folder, doing: ["mcp.serve": ["http": true]], lasting: ["mcp.serve"])
                #expect(violations.isEmpty)
            }
        }
    }

    /// Another feature with commands of the same group, as one that uses servers has.
    private struct MCPFeature: Feature {
        static let manifest = Manifest(id: "mcp", summary: "Use MCP servers", version: "1.0")
        init(_ settings: FeatureSettings) {}
        func register(in registry: inout RegistryBuilder) {
            registry.add(Action("mcp.list", "List the servers", .reads) { _ in Nothing() })
        }
    }

    @Test("It is alone in its group of commands, or with others")
    func group() throws {
        for types in [
            [ServeFeature.self], [MCPFeature.self, ServeFeature.self], [ServeFeature.self, MCPFeature.self],
        ]
            as [[any Feature.Type]]
        {
            let test = try TestHost(types)
            #expect(test.composition.problems.isEmpty && test.host.registry.actions["mcp.serve"] != nil)
        }
    }

    @Test("Only a person serves over the streams of the program, and nobody but those who are named over HTTP")
    func callers() async throws {
        let test = try TestHost([ServeFeature.self])
        let person = test.context().caller
        func attempt(_ grant: Grant) async -> AnyFailure? {
            do {
                _ = try await test.session.perform(
                    "mcp.serve", as: person.narrowed(by: grant), output: SilentOutput())
                return nil
            } catch { return AnyFailure(error) }
        }
        let named = Grant(Grant.Layer(.bundle("b"), actions: ["mcp.serve"]))
        #expect(await attempt(named)?.code == "serve.no-host")
        #expect(await attempt(Grant(Grant.Layer(.bundle("b"), effects: .destroys)))?.code == "access.denied")
        #expect(await attempt(.model)?.code == "access.denied")
    }

    @Test("Conversations are read by those whom a grant names, and by nobody else")
    func conversations() async throws {
        let test = try TestHost([LabFeature.self, ServeFeature.self])
        let person = test.context().caller
        for id in ConversationActions.ids {
            let arguments: JSONObject = id == ConversationActions.one ? ["conversation": "c1"] : [:]
            let named = Grant(Grant.Layer(.client("c"), actions: [id]))
            _ = try await test.session.perform(
                id, arguments, as: person.narrowed(by: named), output: SilentOutput())
            for grant in [Grant.model, Grant(Grant.Layer(.client("c"), effects: .destroys))] {
                await #expect(throws: AccessFailure.self) {
                    _ = try await test.session.perform(
                        id, arguments, as: person.narrowed(by: grant), output: SilentOutput())
                }
            }
        }
    }

    @Test("Addresses are read as they are written, and others are none")
    func addresses() {
        #expect(ResourceAddress("martlet://conversations/a%20b") == .conversation("a b"))
        #expect(ResourceAddress(ResourceAddress.text(ofConversation: "a/b?c")) == .conversation("a/b?c"))
        #expect(ResourceAddress("martlet://screens/a.b") == .screen("a.b", []))
        #expect(
            ResourceAddress("martlet://screens/a?b=c%26d&e")
                == .screen("a", [.init(name: "b", word: "c&d"), .init(name: "e", word: "")]))
        for text in [
            "", "martlet://", "martlet://screens/", "martlet://screens/a/b", "martlet://conversations/a/b",
            "martlet://conversations/%", "martlet://other/a", "file:///etc/passwd", "MARTLET://screens/a",
        ] {
            #expect(ResourceAddress(text) == nil, "\(text)")
        }
    }
}
