import CoreTesting
import Testing

@_spi(Fuzzing) @testable import MCPKit

@Suite("Random messages to our server", .timeLimit(.minutes(2)))
struct ServerFuzzTests {
    private static let parts = [
        "{\"jsonrpc\":\"2.0\"", ",\"id\":1", ",\"id\":\"a\"", ",\"id\":null", ",\"method\":\"initialize\"",
        ",\"method\":\"tools/call\"", ",\"method\":\"tools/list\"", ",\"method\":\"resources/read\"",
        ",\"method\":\"prompts/get\"", ",\"method\":\"completion/complete\"", ",\"method\":\"server/discover\"",
        ",\"method\":\"subscriptions/listen\"", ",\"method\":\"notifications/initialized\"",
        ",\"method\":\"notifications/cancelled\"", ",\"method\":\"resources/subscribe\"",
        ",\"method\":\"logging/setLevel\"", ",\"params\":{", ",\"params\":[", "}", "]", "\n", "\"x\":1",
        "\"name\":\"echo\"", ",\"arguments\":{}", ",\"arguments\":5", "\"uri\":\"a://b\"", ",\"cursor\":\"ZnJvbTox\"",
        "\"protocolVersion\":\"2025-11-25\"", "\"requestId\":1", "\"level\":\"info\"", ",\"requestState\":\"s\"",
        "\"notifications\":{\"toolsListChanged\":true,\"resourceSubscriptions\":[\"a\",5]}",
        ",\"_meta\":{\"progressToken\":1,\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"",
        ",\"io.modelcontextprotocol/clientCapabilities\":{}", ",\"result\":{}", "\u{0}", "é", "[", "null",
    ]

    @Test("Nothing crashes, and every request ends", arguments: [1, 2, 3, 4])
    func random(seed: UInt64) async {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<150 {
            var text = ""
            for _ in 0..<Int.random(in: 1...40, using: &generator) {
                text += Self.parts.randomElement(using: &generator) ?? ""
            }
            await MCPServerFuzzTarget.read(Array(text.utf8))
        }
    }

    @Test("Messages that are almost right", arguments: [5, 6])
    func almost(seed: UInt64) async {
        var generator = SeededGenerator(seed: seed)
        let methods = Self.parts.filter { $0.contains("method") }
        let members = Self.parts.filter { $0.contains(":") && !$0.contains("method") && !$0.hasPrefix("{") }
        for _ in 0..<150 {
            var lines = [#"{"id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}"#]
            for id in 1...5 {
                let method = methods.randomElement(using: &generator) ?? ""
                var params = #""a":1"#
                for _ in 0..<Int.random(in: 0...4, using: &generator) {
                    let member = members.randomElement(using: &generator) ?? ""
                    params += (member.hasPrefix(",") ? "" : ",") + member + (member.contains("_meta") ? "}" : "")
                }
                if Bool.random(using: &generator) {
                    params += #","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","#
                    params += #""io.modelcontextprotocol/clientCapabilities":{}}"#
                }
                lines.append("{\"jsonrpc\":\"2.0\",\"id\":\(id)\(method),\"params\":{\(params)}}")
            }
            await MCPServerFuzzTarget.read(Array(lines.joined(separator: "\n").utf8))
        }
    }
}
