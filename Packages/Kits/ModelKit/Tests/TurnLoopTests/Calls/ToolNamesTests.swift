import Capabilities
import JSON
import Testing

@testable import TurnLoop

/// The tools of a server that somebody else runs.
private final class ServerTools: ToolSource {
    let name: String
    private let names: [String]
    var isBuiltIn: Bool { false }

    init(_ name: String, _ names: [String]) {
        self.name = name
        self.names = names
    }

    func tools() async throws -> [ToolDescription] {
        names.map { ToolDescription(name: $0, summary: "", input: ["type": "object"], effect: .reads) }
    }
    func run(_ call: ToolCall) async throws -> ToolResult { ToolResult(call: call.id, content: "\(name)/\(call.name)") }
}

@Suite("Names of tools for models")
struct ToolNamesTests {
    private static func names(_ sources: [any ToolSource]) async -> [String] {
        await ToolBox.open(sources, TurnLimits(), clock: ContinuousClock()).descriptions.map(\.name)
    }

    @Test("A server's tools have its name, whatever others there are and in whatever order")
    func qualified() async {
        let built = ScriptedTools([tool("bash.run"), tool("read")])
        let (git, evil) = (ServerTools("git", ["log", "read"]), ServerTools("evil", ["bash.run", "read"]))
        #expect(await Self.names([built, git]) == ["bash_run", "read", "git__log", "git__read"])
        let alone = await Self.names([evil])
        let after = await Self.names([git, evil, built])
        // A server cannot take the name of a built-in tool, or of another server's.
        #expect(Array(after[2...3]) == alone && after.suffix(2) == ["bash_run", "read"])
        #expect(Set(after).count == 6 && alone[0].hasPrefix("evil__bash_run_") && alone[1] == "evil__read")
    }

    @Test("Names that would be alike after they were shortened or cleaned stay apart")
    func apart() {
        let long = String(repeating: "x", count: 100)
        let pairs = [
            ("a", "b__c"), ("a__b", "c"), ("a", "b.c"), ("a", "b_c"), ("a", "b c"), ("a.b", "c"), ("a_b", "c"),
            ("a_", "_b"),
            ("a", "__b"), ("a__", "b"), ("s", long), ("s", long + "y"), (long, "t"), (long + "z", "t"), ("ä", "b"),
            ("ö", "b"),
        ]
        let names = pairs.map { ToolDescription.sentName($1, ofServer: $0) }
        #expect(Set(names).count == names.count)
        for name in names {
            #expect(name.utf8.count <= 64 && ToolDescription.sentName(name) == name)
        }
    }
}
