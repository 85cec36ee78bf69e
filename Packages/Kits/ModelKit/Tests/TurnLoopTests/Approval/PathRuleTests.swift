import Capabilities
import JSON
import Testing

@testable import TurnLoop

@Suite("Path rules")
struct PathRuleTests {
    private let places = PathGlob.Places(folder: AbsolutePath("/home/ada/ws"), home: AbsolutePath("/home/ada"))

    private func verdict(
        _ path: String, leadingTo resolved: String? = nil, _ rules: [ApprovalRule], _ effect: Effect = .reads
    ) -> ApprovalVerdict {
        let request = ApprovalRequest(
            call: ToolCall(id: "a", name: "fs.read", input: ["path": .string(path)]), tool: "fs.read", source: "files",
            effect: effect, summary: "", reach: ToolReach(paths: resolved.map { [AbsolutePath($0)] } ?? []))
        return ApprovalPolicy(rules: rules, in: places).decision(request)
    }

    // sandbox cases 32 and 33
    @Test(
        "A rule denies every spelling of a path",
        arguments: [
            "secrets/k", "./secrets/k", "secrets//k", "secrets/./k", "src/../secrets/k", "secrets", "secrets/",
            "/home/ada/ws/secrets/k", "~/ws/secrets/k", "$HOME/ws/secrets/k", "${HOME}/ws/secrets", "SECRETS/k",
            "Secrets",
            "file:///home/ada/ws/secrets/k", "secrets/a/b/c",
        ])
    func spellings(path: String) {
        #expect(verdict(path, [ApprovalRule(.deny, arguments: ["/path": "secrets/**"])]) == .deny, "\(path)")
    }

    // sandbox case 34
    @Test(
        "A path that only looks similar is left alone",
        arguments: ["secrets-not/k", "a/secrets/k", "secret", "/secrets/k"])
    func others(path: String) {
        #expect(verdict(path, [ApprovalRule(.deny, arguments: ["/path": "secrets/**"])]) == .allow, "\(path)")
    }

    // sandbox case 33
    @Test("A rule denies names at any depth, and an accent in either form")
    func patterns() {
        let rules = [ApprovalRule(.deny, arguments: ["/path": "**/.env*"])]
        for path in [".env", "a/.env.local", "a/b/.ENV", ".env/x"] { #expect(verdict(path, rules) == .deny, "\(path)") }
        #expect(verdict("a/env", rules) == .allow)
        let accent = [ApprovalRule(.deny, arguments: ["/path": "caf\u{E9}"])]
        #expect(verdict("cafe\u{301}/x", accent) == .deny)
    }

    // sandbox case 28
    @Test("A rule denies the target of a link, and allows only if both match")
    func links() {
        let deny = [ApprovalRule(.deny, arguments: ["/path": "secrets/**"])]
        #expect(verdict("docs/link", leadingTo: "/home/ada/ws/secrets/k", deny) == .deny)
        let allow = [ApprovalRule(.allow, arguments: ["/path": "docs/**"])]
        #expect(verdict("docs/a", leadingTo: "/home/ada/ws/docs/a", allow, .writes) == .allow)
        #expect(verdict("docs/link", leadingTo: "/home/ada/ws/secrets/k", allow, .writes) == .ask)
        #expect(verdict("./docs/a", leadingTo: "/home/ada/ws/docs/a", allow, .writes) == .allow)
        #expect(verdict("docs/../secrets/k", leadingTo: "/home/ada/ws/secrets/k", allow, .writes) == .ask)
    }

    @Test("Denied paths are handed to the tools by what these do")
    func denied() {
        let tools = [("fs.read", Effect.reads), ("grep.search", .reads), ("fs.write", .writes)].map {
            ToolDescription(name: $0.0, summary: "", input: [:], effect: $0.1)
        }
        let policy = ApprovalPolicy(rules: [
            ApprovalRule(.deny, tool: "fs.read", arguments: ["/path": "secrets/**"]),
            ApprovalRule(.deny, tool: "fs.write", arguments: ["/path": "lock"]),
            ApprovalRule(.deny, source: "elsewhere", arguments: ["/path": "other"]),
            ApprovalRule(.deny, tool: "unknown", arguments: ["/path": "other"]),
            ApprovalRule(.ask, arguments: ["/path": "asked"]),
            ApprovalRule(.deny, arguments: ["/path": "two", "/mode": "w"]),
            ApprovalRule(.deny, arguments: ["/content": "three"]),
        ])
        #expect(policy.deniedPaths(of: "files", tools) == DeniedPaths(reading: ["secrets/**"], writing: ["lock"]))
    }
}
