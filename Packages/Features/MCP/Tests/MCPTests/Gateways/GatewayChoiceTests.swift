import Capabilities
import Testing

@testable import MCP

/// How a choice for a session of a gateway changes, without a gateway.
struct GatewayChoiceTests {
    private static func server(_ id: String, _ tools: [String]?, isEnabled: Bool? = true) -> GatewayToolServer {
        GatewayToolServer(row: AgentToolServer(id: id, name: id, isEnabled: isEnabled), tools: tools)
    }

    private static let git = server("git", ["log", "push"])
    private static let files = server("files", ["fs.read", "log"])
    private static let spare = server("spare", ["x"], isEnabled: false)
    private static let all = [git, files, spare]

    @Test("what is on already changes nothing")
    func same() {
        var choice = GatewayChoice(ToolSelection(), among: Self.all)
        choice.set(Self.git, isOn: true)
        choice.set("log", of: Self.git, isOn: true)
        choice.set(Self.spare, isOn: false)
        #expect(choice.selection == ToolSelection())
    }

    @Test("a server that sessions do not use by default is added to those that they do")
    func spare() {
        var choice = GatewayChoice(ToolSelection(), among: Self.all)
        choice.set(Self.spare, isOn: true)
        #expect(choice.selection == ToolSelection(servers: ["git", "files", "spare"]))
    }

    @Test("one tool of a server that is off comes alone")
    func alone() {
        var choice = GatewayChoice(ToolSelection(servers: ["files"]), among: Self.all)
        choice.set("push", of: Self.git, isOn: true)
        #expect(choice.selection == ToolSelection(servers: ["files", "git"], tools: ["push", "fs.read", "files/log"]))
        #expect(!choice.uses("log", of: Self.git) && choice.uses("log", of: Self.files))
    }

    @Test("words of a choice are understood as the gateway understands them, and unknown ones stay")
    func words() {
        let given = ToolSelection(servers: ["git", "files", "gone"], tools: ["fs_read", "log", "git__push", "gone/x"])
        var choice = GatewayChoice(given, among: Self.all)
        #expect(choice.selection == given)
        choice.set("log", of: Self.files, isOn: false)
        #expect(choice.selection.tools == ["git/log", "push", "fs.read", "gone/x"])
        #expect(choice.selection.servers == given.servers)
    }

    @Test("a server that lists no tools is told when a list of tools leaves it without any")
    func unlisted() {
        let web = Self.server("web", [])
        var choice = GatewayChoice(ToolSelection(), among: [Self.git, web])
        choice.set("log", of: Self.git, isOn: false)
        #expect(choice.unlisted == [web] && choice.selection.tools == ["push"])
        choice.set("push", of: Self.git, isOn: false)
        #expect(choice.selection.tools == [] && choice.selection.servers == nil)
    }
}
