import HTTPCore
import Testing

@testable import HTTPClient

@Suite("HTTP addresses")
struct HTTPURLTests {
    @Test(
        "An address is parsed and normalized",
        arguments: [
            ("http://example.org", "example.org", 80, "/", nil, "http://example.org/"),
            (
                "HTTPS://Example.ORG:8443/a/b?x=1&y=2#part", "example.org", 8443, "/a/b", "x=1&y=2",
                "https://example.org:8443/a/b?x=1&y=2"
            ),
            ("http://example.org:80/", "example.org", 80, "/", nil, "http://example.org/"),
            ("http://[::1]:9000/x", "::1", 9000, "/x", nil, "http://[::1]:9000/x"),
            (
                "http://example.org/a b/ü?q=ä b", "example.org", 80, "/a%20b/%c3%bc", "q=%c3%a4+b",
                "http://example.org/a%20b/%c3%bc?q=%c3%a4+b"
            ),
            ("http://example.org/a/../b/./c", "example.org", 80, "/b/c", nil, "http://example.org/b/c"),
            ("http://XN--bcher-kva.example/", "xn--bcher-kva.example", 80, "/", nil, "http://xn--bcher-kva.example/"),
            ("http://0x7f.1/", "127.0.0.1", 80, "/", nil, "http://127.0.0.1/"),
        ] as [(String, String, Int, String, String?, String)])
    func parts(_ text: String, _ host: String, _ port: Int, _ path: String, _ query: String?, _ whole: String) throws {
        let url = try HTTPURL(text)
        #expect(url.host == host)
        #expect(url.port == port)
        #expect(url.path == path)
        #expect(url.query == query)
        #expect(url.text == whole)
        #expect(try HTTPURL(url.text) == url)
    }

    @Test(
        "An address without a scheme gets the assumed scheme",
        arguments: ["lab.example", "lab.example:8443/x?u=http://y/"])
    func assumed(_ text: String) throws {
        #expect(try HTTPURL(text, assuming: .https).scheme == .https)
        #expect(try HTTPURL(text, assuming: .https).host == "lab.example")
        #expect(throws: HTTPError.self) { try HTTPURL(text) }
    }

    @Test(
        "An invalid address is refused with a reason",
        arguments: [
            ("", "begins neither"), ("ftp://example.org/", "only http"), ("file:///etc/passwd", "only http"),
            ("http://", "host"), ("http://example.org:70000/", "port"), ("http://example.org:0/", "port"),
            ("http://[::1", "IPv6"), ("http://exa mple.org/", "host"), ("javascript:alert(1)", "begins neither"),
            ("http://a\u{0}b/", "control character"), ("http://user:pa55@example.org/", "user name or password"),
            ("http://user@example.org/", "user name or password"), ("http://bücher.example/", "ASCII form"),
        ])
    func refused(_ text: String, _ reason: String) {
        let error = #expect(throws: HTTPError.self) { try HTTPURL(text) }
        #expect(error?.kind == .invalidURL)
        #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
        #expect(error?.message.contains("pa55") == false)
        #expect(error?.mayHaveBeenSent == false)
    }

    @Test(
        "A reference is resolved against its base address",
        arguments: [
            ("../x", "http://example.org/x"), ("?q=2", "http://example.org/a/b?q=2"), ("c", "http://example.org/a/c"),
            ("/", "http://example.org/"), ("//other.example/p", "http://other.example/p"),
            ("https://other.example:444/", "https://other.example:444/"), ("#part", "http://example.org/a/b?q=1"),
        ])
    func resolved(_ reference: String, _ expected: String) throws {
        #expect(try HTTPURL("http://example.org/a/b?q=1").resolving(reference).text == expected)
    }

    @Test(
        "A reference to another scheme or with a password is refused",
        arguments: ["ftp://x/", "http://u:p@x/", "gopher:x"])
    func unresolved(_ reference: String) throws {
        let url = try HTTPURL("http://example.org/")
        #expect(throws: HTTPError.self) { try url.resolving(reference).scheme == .http ? () : () }
    }

    @Test(
        "Local servers are recognized by their address",
        arguments: [
            ("localhost", true), ("a.localhost", true), ("printer.local", true), ("127.0.0.1", true),
            ("127.9.9.9", true),
            ("10.1.2.3", true), ("172.16.0.1", true), ("172.31.255.255", true), ("192.168.1.1", true),
            ("169.254.1.1", true), ("[::1]", true), ("[fd00::1]", true), ("[fe80::1]", true),
            ("[::ffff:10.0.0.1]", true),
            ("172.32.0.1", false), ("172.15.0.1", false), ("192.169.0.1", false), ("11.0.0.1", false),
            ("8.8.8.8", false),
            ("[2001:db8::1]", false), ("[::ffff:8.8.8.8]", false), ("example.org", false), ("local", false),
            ("localhost.example.org", false), ("10.example.org", false),
        ])
    func local(_ host: String, _ isLocal: Bool) throws {
        #expect(try HTTPURL("http://\(host)/").isLocal == isLocal)
    }

    @Test("Two addresses share an origin when scheme, host and port are the same")
    func origins() throws {
        let url = try HTTPURL("https://example.org/a")
        #expect(url.isSameOrigin(as: try HTTPURL("https://EXAMPLE.org:443/b?c")))
        for other in ["http://example.org/a", "https://example.org:444/a", "https://www.example.org/a"] {
            #expect(!url.isSameOrigin(as: try HTTPURL(other)))
        }
    }
}
