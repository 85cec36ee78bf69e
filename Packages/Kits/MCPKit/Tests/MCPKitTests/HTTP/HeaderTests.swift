import Capabilities
import HTTPCore
import JSON
import Testing

@testable import MCPKit

@Suite("Headers of MCP over HTTP")
struct HeaderTests {
    @Test(
        "A value that a header cannot hold is encoded",
        arguments: [
            ("plain text", "plain text"), ("", ""), (" edge", "=?base64?IGVkZ2U=?="), ("edge ", "=?base64?ZWRnZSA=?="),
            ("Zürich", "=?base64?WsO8cmljaA==?="), ("a\nb", "=?base64?YQpi?="), ("a\tb", "=?base64?YQli?="),
            ("=?base64?YQ==?=", "=?base64?PT9iYXNlNjQ/WVE9PT89?="), ("=?base64?", "=?base64?"),
        ])
    func values(text: String, value: String) {
        #expect(HeaderValue.encode(text) == value)
    }

    @Test("Marked arguments become headers, at any depth of properties")
    func marks() throws {
        let schema: JSON = [
            "type": "object",
            "properties": [
                "region": ["type": "string", "x-mcp-header": "Region"],
                "deep": ["type": "object", "properties": ["n": ["type": "integer", "x-mcp-header": "N"]]],
                "flag": ["type": "boolean", "x-mcp-header": "Flag"],
                "x-mcp-header": ["type": "string", "default": ["x-mcp-header": 3]],
            ],
        ]
        let marks = try HeaderMarks(schema)
        let fields = marks.headers(for: ["region": "ä", "deep": ["n": 7], "flag": false])
        #expect(
            Dictionary(uniqueKeysWithValues: fields.map { ($0.name, $0.value) }) == [
                "Mcp-Param-Region": "=?base64?w6Q=?=", "Mcp-Param-N": "7", "Mcp-Param-Flag": "false",
            ])
        #expect(marks.headers(for: ["region": nil, "deep": [1]]).isEmpty && marks.headers(for: nil).isEmpty)
        #expect(marks.headers(for: ["deep": ["n": 7.0]]).map(\.value) == ["7"])
    }

    @Test(
        "A mark that is not valid is told",
        arguments: [
            ["x-mcp-header": "A"],
            ["properties": ["a": ["type": "string", "x-mcp-header": ""]]],
            ["properties": ["a": ["type": "string", "x-mcp-header": "a b"]]],
            ["properties": ["a": ["type": "string", "x-mcp-header": 3]]],
            ["properties": ["a": ["type": "number", "x-mcp-header": "A"]]],
            ["properties": ["a": ["type": ["string"], "x-mcp-header": "A"]]],
            ["properties": ["a": ["x-mcp-header": "A"]]],
            ["properties": ["a": ["items": ["type": "string", "x-mcp-header": "A"]]]],
            ["$defs": ["a": ["type": "string", "x-mcp-header": "A"]]],
            ["anyOf": [["properties": ["a": ["type": "string", "x-mcp-header": "A"]]]]],
            [
                "properties": [
                    "a": ["type": "string", "x-mcp-header": "A"], "b": ["type": "string", "x-mcp-header": "a"],
                ]
            ],
        ] as [JSON])
    func invalidMarks(schema: JSON) {
        #expect(throws: MCPMalformed.self) { try HeaderMarks(schema) }
    }

    @Test("A schema of any depth is read")
    func deep() throws {
        var schema: JSON = ["type": "string", "x-mcp-header": "A"]
        for _ in 0..<2_000 { schema = ["properties": ["a": schema]] }
        #expect(try HeaderMarks(schema).marks.first?.path.count == 2_000)
    }

    @Test(
        "A challenge is read",
        arguments: [
            (#"Bearer resource_metadata="https://a.example/m", scope="read write""#, "https://a.example/m", 2),
            (#"bearer scope=read , resource_metadata = "m""#, "m", 1),
            (#"Basic realm="a, b", Bearer realm="c \" d", resource_metadata="m", scope="x""#, "m", 1),
            (#"Negotiate YII+/=, Bearer resource_metadata="m""#, "m", 0),
            (#"Bearer"#, nil, 0), (#"Basic realm="x", scope="a""#, nil, 0), ("", nil, 0), (#"Bearer scope=""#, nil, 0),
            (#"Bearer , , resource_metadata=m,"#, "m", 0), ("\"=,=,\"", nil, 0),
        ] as [(String, String?, Int)])
    func challenges(value: String, metadata: String?, scopes: Int) throws {
        let challenge = try #require(ResourceChallenge(.unauthorized, ["WWW-Authenticate": value]))
        #expect(challenge.metadata == metadata && challenge.scopes.count == scopes && challenge.reason == .signIn)
    }

    @Test("Only a refusal that another credential may change is a challenge")
    func reasons() {
        let headers: HTTPHeaders = ["WWW-Authenticate": #"Bearer error="insufficient_scope", scope="a""#]
        #expect(ResourceChallenge(.forbidden, headers)?.reason == .moreScopes)
        #expect(ResourceChallenge(.forbidden, [:]) == nil && ResourceChallenge(.notFound, headers) == nil)
        #expect(ResourceChallenge(.unauthorized, [:])?.reason == .signIn)
    }
}
