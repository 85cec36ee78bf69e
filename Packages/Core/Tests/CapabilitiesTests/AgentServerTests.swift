import Capabilities
import JSON
import Testing

@Suite("Agent servers")
struct AgentServerTests {
    private let lab = ServerID("lab")

    @Test("what a server does not offer is no value, and an error only for those who need it")
    func offered() throws {
        let answer = Offered.value(2)
        #expect(answer.value == 2 && answer.isOffered && answer.map { $0 * 2 } == .value(4))
        #expect(try answer.required("numbers", of: lab) == 2)
        let missing = Offered<Int>.notOffered
        #expect(missing.value == nil && !missing.isOffered && missing.map { $0 * 2 } == .notOffered)
        let error = #expect(throws: AgentServerError.self) { try missing.required("numbers", of: lab) }
        #expect(error?.kind == .notOffered && error?.code == "agent.not-offered" && error?.exit == .usage)
        #expect(error?.message.hasPrefix("lab offers no numbers; ") == true)
    }

    @Test("errors name the server, the thing and what to do, and hide nothing in them")
    func errors() {
        let lost = AgentServerError.notFound(.session, "a\u{1B}b", at: lab)
        #expect(lost.message.hasPrefix("lab has no session '") && !lost.message.contains("\u{1B}"))
        #expect(lost.details == ["subject": "session"] && lost.exit == .usage)
        let told = AgentServerError.notFound(.tool, "", at: lab, told: "there is no tool 'x'")
        #expect(told.message == "lab: there is no tool 'x'")
        #expect(AgentServerError.busy(.session, "s", at: lab).message.contains("wait for it or stop it"))
        #expect(AgentServerError.changed(.file, "a", at: lab).message.contains("read it again first"))
        #expect(AgentServerError.tooLarge(.file, "a", at: lab).message.contains("larger than 16.0 MiB"))
    }

    @Test("a gateway's error code names what was not found")
    func codes() {
        for subject in [AgentSubject.project, .session, .approval, .model, .file] {
            #expect(AgentSubject(errorCode: "\(subject.rawValue)_not_found") == subject)
        }
        #expect(AgentSubject(errorCode: "server_not_found") == .toolServer)
        #expect(AgentSubject(errorCode: "unknown_tool") == .tool)
        for code in ["", "not_found", "route_not_found", "session_busy"] {
            #expect(AgentSubject(errorCode: code) == nil, "\(code)")
        }
    }

    @Test("what a session does not apply of a choice is told in words, and what was not chosen is not missing")
    func missing() {
        let chosen = NewSessionTools(servers: ["b", "a"], tools: ["x"], priority: ["b"], auditLog: true)
        let applied = ToolSelection(servers: ["a", "b"], tools: ["x"], priority: ["b"], auditLog: true)
        #expect(chosen.missing(in: applied) == [])
        #expect(chosen.missing(in: nil) == ["tool servers", "tools", "priority", "audit log"])
        #expect(
            chosen.missing(in: ToolSelection(servers: ["a", "b"], tools: ["x", "y"], priority: ["b"], auditLog: true))
                == ["tools"])
        #expect(NewSessionTools(auditLog: false).missing(in: applied) == ["audit log"])
        #expect(NewSessionTools().missing(in: applied) == [] && NewSessionTools().isEmpty && !chosen.isEmpty)
    }

    @Test(
        "the path of a file is relative and leads nowhere else",
        arguments: [
            ("a.txt", true), ("a/b c/.d", true), ("…", true), ("", false), (".", false), ("..", false), ("/a", false),
            ("a/../b", false), ("a//b", false), ("a/", false), ("a/./b", false), ("a\0b", false),
            (String(repeating: "x", count: 5000), false),
        ])
    func paths(path: String, isPath: Bool) {
        #expect(AgentFile.isPath(path) == isPath)
    }
}
