import Capabilities
import JSON
import Testing

@Suite("Grant requests of arguments")
struct RequestTests {
    @Test(
        "Every path and every secret in the arguments is requested, at any depth",
        arguments: [
            (Schema.path(.read), "a/./b" as JSON, [GrantRequest.path("/work/a/b", .read)]),
            (.path(.write), "../x", [.path("/x", .write)]), (.path(.own), "/../..", [.path("/", .own)]),
            (.path(.read), "-", [.path("/work/-", .read)]), (.path(.write), "-", [.path("/work/-", .write)]),
            (.path(.any), "a", []),
            (.secretName, "openai", [.secret("openai")]), (.string, "/etc/passwd", []),
            (.host, "a:1", [.host("a", port: 1)]), (.host, "a", []),
            (.optional(.path(.read)), nil, []),
            (
                .array(.path(.read)), ["a", "b"],
                [
                    .path("/work/a", .read), .path("/work/b", .read),
                ]
            ),
            (.map(.secretName), ["x": "s"], [.secret("s")]),
            (
                .record([.init("in", "In", .path(.read)), .init("out", "Out", .path(.write))]), ["out": "o"],
                [.path("/work/o", .write)]
            ),
        ] as [(Schema, JSON, [GrantRequest])])
    func requests(schema: Schema, value: JSON, requests: [GrantRequest]) {
        #expect(schema.requests(in: value, from: "/work") == requests)
    }

    @Test(
        "A URL requests no host, because the client decides when it connects; server lists are parsed strictly",
        arguments: [
            ("https://API.example.com/v1", "api.example.com:443"), ("http://localhost", "localhost:80"),
            ("lab.local:8443", "lab.local:8443"), ("http://[::1]:80/x", "[::1]:80"), ("https://a?b", "a:443"),
            ("https://user@evil.example", nil), ("https://a\\@b", nil), ("https://a:0", nil), ("https://a:x", nil),
            ("ftp://a", nil), ("", nil), ("https://é.example", nil), ("http://[::1", nil), ("http://a b", nil),
        ] as [(String, String?)])
    func servers(address: String, pattern: String?) {
        #expect(ServerPattern.of(address) == pattern)
        #expect(
            ServerPattern.of(address, anyPort: true)
                == pattern.map { String($0[..<($0.lastIndex(of: ":") ?? $0.endIndex)]) })
    }
}
