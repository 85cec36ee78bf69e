import SSHCore
import Testing

struct AddressTests {
    @Test(
        "An address has its parts, and reads as itself",
        arguments: [
            ("web", nil, "web", nil), ("me@web", "me", "web", nil), ("web:2222", nil, "web", 2222),
            ("me@web:22", "me", "web", 22), ("[::1]", nil, "::1", nil), ("[::1]:2222", nil, "::1", 2222),
            ("::1", nil, "::1", nil), ("fe80::1%eth0", nil, "fe80::1%eth0", nil), ("10.0.0.7:1", nil, "10.0.0.7", 1),
            ("DOMAIN\\me@web", "DOMAIN\\me", "web", nil), ("a@b@web", "a@b", "web", nil),
            ("ssh://web", nil, "web", nil), ("ssh://me@web:2222/", "me", "web", 2222),
        ] as [(String, String?, String, Int?)])
    func parts(text: String, user: String?, host: String, port: Int?) throws {
        let address = try SSHAddress(text)
        #expect((address.user, address.host, address.port) == (user, host, port))
        #expect(try SSHAddress(address.description) == address)
    }

    @Test(
        "What ssh would not take for a host, or a shell for something else, is refused",
        arguments: [
            "", "@web", "me@", "-oProxyCommand=x", "me@-x", "web:", "web:0", "web:65536", "web:x", "[::1", "[::1]x",
            "[::1]:", "we b", "web;id", "$(id)", "a|b", "we\nb", "me\u{7}@web", "-me@web", "a -b@web", "me\\@web",
            "a,b",
            "ssh://", "ssh://web/path", "ssh://%zz@web", "ssh://@web", "https://web", "web/path", "*", "!web",
            "`x`@web",
            "\u{0}", String(repeating: "a", count: 256), String(repeating: "a", count: 2_000),
        ])
    func refused(text: String) {
        #expect(failure { () throws(SSHError) in try SSHAddress(text) }?.kind == .address)
    }

    @Test("Ports outside their range are refused", arguments: [0, -1, 65_536])
    func ports(port: Int) {
        #expect(failure { () throws(SSHError) in try SSHAddress(host: "web", port: port) }?.kind == .address)
    }
}
