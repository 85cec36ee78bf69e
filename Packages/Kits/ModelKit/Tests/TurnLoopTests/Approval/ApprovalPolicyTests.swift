import Capabilities
import JSON
import Testing

@testable import TurnLoop

@Suite("Approval policy")
struct ApprovalPolicyTests {
    private func request(
        _ tool: String = "write_file", _ effect: Effect = .writes, source: String = "files", _ input: JSON = [:]
    ) -> ApprovalRequest {
        ApprovalRequest(
            call: ToolCall(id: "a", name: tool, input: input), tool: tool, source: source, effect: effect, summary: "")
    }

    private func verdict(_ rules: [ApprovalRule], _ request: ApprovalRequest) -> ApprovalVerdict {
        // The order of rules must not matter.
        let verdict = ApprovalPolicy(rules: rules).decision(request)
        #expect(ApprovalPolicy(rules: rules.reversed()).decision(request) == verdict)
        return verdict
    }

    @Test("Without rules, reading is allowed and everything else is asked about")
    func effects() {
        #expect(verdict([], request("read", .reads)) == .allow)
        #expect(verdict([], request("write", .writes)) == .ask)
        #expect(verdict([], request("drop", .destroys)) == .ask)
        #expect(ApprovalPolicy().ruling(for: request()) == nil)
    }

    @Test("The rule that describes the tool most closely applies")
    func precision() {
        let rules = [
            ApprovalRule(.ask), ApprovalRule(.allow, tool: "write_*"), ApprovalRule(.ask, tool: "write_file"),
        ]
        #expect(verdict(rules, request("write_file")) == .ask)
        #expect(verdict(rules, request("write_note")) == .allow)
        #expect(verdict(rules, request("read", .reads)) == .ask)
    }

    @Test("A rule about the input takes precedence over a rule about the tool")
    func arguments() {
        let rules = [
            ApprovalRule(.allow, tool: "write_file"),
            ApprovalRule(.ask, arguments: ["/path": "/etc/**"]),
            ApprovalRule(.allow, arguments: ["/path": "/etc/motd"]),
        ]
        #expect(verdict(rules, request(["path": "/srv/a"])) == .allow)
        #expect(verdict(rules, request(["path": "/etc/passwd"])) == .ask)
        #expect(verdict(rules, request(["path": "/etc/motd"])) == .allow)
        #expect(verdict(rules, request([:])) == .allow)
    }

    private func request(_ input: JSON) -> ApprovalRequest { request("write_file", .writes, source: "files", input) }

    @Test("A denial always wins, and a question wins over an approval")
    func strength() {
        let (allow, ask, deny) = (
            ApprovalRule(.allow, tool: "write_file", scope: .conversation),
            ApprovalRule(.ask, tool: "write_file", scope: .conversation),
            ApprovalRule(.deny, tool: "write_file", scope: .always)
        )
        #expect(verdict([allow, ask], request()) == .ask)
        #expect(verdict([allow, deny], request()) == .deny)
        #expect(verdict([ask, deny], request()) == .deny)
        #expect(verdict([ApprovalRule(.allow, tool: "write_file", source: "files"), deny], request()) == .deny)
        #expect(verdict([allow, ApprovalRule(.deny)], request()) == .deny)
    }

    @Test("A remembered rule of a narrower scope wins over a question")
    func scopes() {
        let asks = ApprovalRule(.ask, tool: "write_file", scope: .always)
        let allows = ApprovalRule(.allow, tool: "write_file", scope: .conversation)
        #expect(verdict([asks, allows], request()) == .allow)
        let project = ApprovalRule(.ask, tool: "write_file", scope: .project)
        #expect(verdict([project, ApprovalRule(.allow, tool: "write_file", scope: .always)], request()) == .ask)
    }

    @Test("Sources are kept apart")
    func sources() {
        let rules = [ApprovalRule(.allow, source: "files")]
        #expect(verdict(rules, request()) == .allow)
        #expect(verdict(rules, request(source: "elsewhere")) == .ask)
    }

    @Test("A folder pattern does not allow what lies outside")
    func traversal() {
        let rules = [ApprovalRule(.allow, arguments: ["/path": "/srv/**"])]
        #expect(verdict(rules, request(["path": "/srv/a/b"])) == .allow)
        #expect(verdict(rules, request(["path": "/srv/../etc/passwd"])) == .ask)
        #expect(verdict(rules, request(["path": "/srv/a..b"])) == .allow)
    }

    @Test("Endless values are never allowed and never bypass a denial")
    func longValues() {
        let long = JSON.string("/srv/" + String(repeating: "a", count: 100_000))
        #expect(verdict([ApprovalRule(.allow, arguments: ["/path": "/srv/**"])], request(["path": long])) == .ask)
        #expect(verdict([ApprovalRule(.deny, arguments: ["/path": "/etc/**"])], request(["path": long])) == .deny)
    }

    @Test("Values that are not text are compared as JSON")
    func otherValues() {
        let rules = [ApprovalRule(.allow, arguments: ["/force": "false"])]
        #expect(verdict(rules, request(["force": false])) == .allow)
        #expect(verdict(rules, request(["force": true])) == .ask)
    }

    @Test("A policy is read back unchanged from JSON")
    func coding() throws {
        let policy = ApprovalPolicy(rules: [
            ApprovalRule(.allow, tool: "read_*"), ApprovalRule(.deny, source: "shell", scope: .project),
            ApprovalRule(.ask, tool: "write", arguments: ["/path": "/srv/**", "/mode": "w"], scope: .conversation),
        ])
        let text = policy.json.text()
        #expect(try ApprovalPolicy(json: JSON(parsing: text)) == policy)
        #expect(ApprovalPolicy.schema.problems(in: policy.json).isEmpty)
    }

    @Test(
        "An invalid rule is reported with its place",
        arguments: [
            (#"[{"tool":"a"}]"#, "0.verdict"), (#"[{"verdict":"maybe"}]"#, "0.verdict"),
            (#"[{"verdict":"allow","scope":"once"}]"#, "0.scope"),
            (#"[{"verdict":"allow"},{"verdict":"deny","arguments":{"path":"x"}}]"#, "1.arguments.path"),
            (#"[{"verdict":"allow","tol":"x"}]"#, "0.tol"), (#"{"verdict":"allow"}"#, "needs a list"),
        ])
    func wrongRules(text: String, expected: String) throws {
        let json = try JSON(parsing: text)
        let error = #expect(throws: ValueError.self) { try ApprovalPolicy(json: json) }
        #expect(error?.description.contains(expected) == true, "\(String(describing: error))")
    }
}
