import Capabilities
import HTTPClient
import KamiwazaKit
import Testing

@Suite("Addresses from typed text")
struct AddressTests {
    @Test(
        "The API is searched below /api and then at the address itself, over https by default",
        arguments: [
            ("lab.example", ["https://lab.example/api", "https://lab.example/"]),
            ("  Lab.Example/ ", ["https://lab.example/api", "https://lab.example/"]),
            ("lab.example:8443", ["https://lab.example:8443/api", "https://lab.example:8443/"]),
            ("http://lab.example", ["http://lab.example/api", "http://lab.example/"]),
            ("HTTPS://lab.example:443", ["https://lab.example/api", "https://lab.example/"]),
            ("https://lab.example/api", ["https://lab.example/api"]),
            ("https://lab.example/api///", ["https://lab.example/api"]),
            ("lab.example/ai/", ["https://lab.example/ai/api", "https://lab.example/ai"]),
            ("10.0.0.5:8443", ["https://10.0.0.5:8443/api", "https://10.0.0.5:8443/"]),
            ("[::1]:8080", ["https://[::1]:8080/api", "https://[::1]:8080/"]),
            ("localhost", ["https://localhost/api", "https://localhost/"]),
        ])
    func candidates(_ typed: String, _ expected: [String]) throws {
        #expect(try KamiwazaAddress(typed).candidates.map(\.text) == expected)
    }

    @Test(
        "An invalid address is refused before anything is sent",
        arguments: [
            "", "   ", "ftp://lab.example", "file:///etc/passwd", "https://", "lab.example:99999", "lab.example:x",
            "https://ada:hunter22@lab.example", "two words", "https://[::1", "lab.exa\u{0}mple",
            "lab.example/?tab=models", "lab.example#top", "https://lab.example/api?x=1#f",
        ])
    func refused(_ typed: String) throws {
        let error = try #require(throws: KamiwazaError.self) { try KamiwazaAddress(typed) }
        #expect(error.kind == .invalidAddress && error.code == "kamiwaza.invalid-address" && error.exit == .usage)
        #expect(!error.message.isEmpty && !error.everything.contains("hunter22"))
    }
}
