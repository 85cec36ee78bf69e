import CoreTesting
import Testing

@_spi(Fuzzing) @testable import MCPKit

@Suite("Random events of servers", .timeLimit(.minutes(2)))
struct EventFuzzTests {
    private static let parts = [
        "data: ", "data:", "event: endpoint\n", "event: message\n", "id: 1\n", "retry: 5\n", ":", "\n", "\n\n", "\r\n",
        "{\"jsonrpc\":\"2.0\",\"id\":1", ",\"result\":{}}",
        ",\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"a\"}]}}",
        ",\"error\":{\"code\":1}}", "{\"id\":\"1\"",
        "{\"method\":\"elicitation/create\",\"id\":1,\"params\":{\"message\":\"m\"}}",
        "{\"method\":\"notifications/progress\",\"params\":{\"progress\":1}}", "/messages?x=1", "//evil.example/",
        "http://127.0.0.1:8080@evil.example/", "http://127.0.0.1:8080/\\evil", "[", "]", "\u{0}", "\u{FEFF}", "é",
    ]

    @Test("Nothing crashes, and each request is answered once at most", arguments: [1, 2, 3])
    func random(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<2_000 {
            var text = ""
            for _ in 0..<Int.random(in: 1...30, using: &generator) {
                text += Self.parts.randomElement(using: &generator) ?? ""
            }
            MCPEventFuzzTarget.read(Array((text + "\n\n").utf8))
        }
    }
}
