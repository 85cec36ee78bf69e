import Capabilities
import JSON
import Testing

@Suite("Secret")
struct SecretTests {
    private static let text = "hunter2-s3cret"
    private static let secret = Secret(text)

    private struct Holder {
        var label = "token"
        var secret = SecretTests.secret
        var maybe: Secret? = SecretTests.secret
    }

    private enum Wrapped { case secret(Secret, String) }

    private final class Box {
        let secret = SecretTests.secret
    }

    /// All containers in which a secret may be printed.
    private static var carriers: [(name: String, value: Any)] {
        let head = RequestHead(method: "GET", url: "/", headers: [(name: "authorization", value: secret)])
        return [
            ("alone", secret), ("optional", Secret?.some(secret) as Any), ("array", [secret]), ("map", ["k": secret]),
            ("struct", Holder()), ("enum", Wrapped.secret(secret, "x")), ("tuple", (secret, 1)), ("object", Box()),
            ("answer", Answer.secret(secret)), ("request", head), ("nested", [["k": [Holder()]]]),
            ("result", Result<Secret, ValueError>.success(secret)), ("any", secret as Any),
        ]
    }

    @Test("A secret is never shown, whatever prints its container", arguments: carriers.indices)
    func invisible(index: Int) {
        let (name, value) = Self.carriers[index]
        var dumped = ""
        dump(value, to: &dumped)
        let texts = [
            "\(value)", String(describing: value), String(reflecting: value), dumped,
            String(describing: Mirror(reflecting: value)),
        ]
        for text in texts { #expect(!text.contains("hunter2"), "\(name): \(text)") }
    }

    @Test("A secret prints as a mark")
    func mark() {
        #expect("\(Self.secret)" == "‹redacted›")
        #expect(String(reflecting: Self.secret) == "‹redacted›")
        #expect("\([Self.secret])" == "[‹redacted›]")
    }

    @Test("A secret has no members to reflect on and no JSON")
    func reflection() {
        #expect(Mirror(reflecting: Self.secret).children.isEmpty)
        #expect(!(Self.secret as Any is any OutputValue))
        #expect(!(Self.secret as Any is any Encodable))
    }

    @Test("A secret lends its text to code that needs it")
    func lending() throws {
        #expect(Self.secret.withText { $0.utf8.count } == Self.text.utf8.count)
        #expect(throws: ValueError("no")) {
            try Self.secret.withText { (_: String) throws(ValueError) -> Int in throw ValueError("no") }
        }
        #expect(Secret("").isEmpty)
        #expect(!Self.secret.isEmpty)
        #expect(try Secret(json: .string(Self.text)).equals(Self.secret))
    }

    @Test(
        "Secrets are equal if all bytes are equal",
        arguments: [
            ("", "", true), ("a", "a", true), ("a", "b", false), ("a", "", false), ("", "a", false), ("ab", "a", false),
            ("a", "ab", false), ("aa", "a\0", false), ("a", "a\0", false), ("a\0", "a", false),
            ("é", "e\u{301}", false),
        ])
    func equality(left: String, right: String, expected: Bool) {
        #expect(Secret(left).equals(Secret(right)) == expected)
    }
}
