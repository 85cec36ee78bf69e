import Capabilities
import Cryptography
import JSON

/// Makes tokens that look as those of a real platform do, so that whoever looks for tokens in texts finds them. Their
/// signature is noise: the platform knows its tokens by heart.
enum SignedToken {
    static func make(_ claims: JSONObject) -> String {
        let header: JSON = ["alg": "RS256", "typ": "JWT", "kid": "test"]
        let parts = [Array(header.text().utf8), Array(JSON.object(claims).text().utf8), random(32)]
        return parts.map(Base64URL.encode).joined(separator: ".")
    }

    /// Words that nobody can guess.
    static func word(_ count: Int = 16) -> String { Base64URL.encode(random(count)) }

    /// An id in the form of a UUID.
    static func uuid() -> String {
        let digits = Array(Hexadecimal.encode(random(16)))
        let parts = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32]
        return parts.map { String(digits[$0]) }.joined(separator: "-")
    }

    private static func random(_ count: Int) -> [UInt8] {
        do { return try Random.bytes(count) } catch { fatalError("no random bytes for a test: \(error)") }
    }
}
