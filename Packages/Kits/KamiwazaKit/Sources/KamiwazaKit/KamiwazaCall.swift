import Capabilities
import HTTPCore
import JSON

/// One question to the platform, before it is known which server it goes to and who asks.
struct KamiwazaCall {
    /// What a refusal means depends on this.
    enum Purpose { case signIn, refresh, other }

    enum Body {
        case none
        case form(WebForm)
        case json(JSON)
    }

    var method: HTTPMethod
    /// Below the base of the API, with a slash in front and every part escaped.
    var path: String
    var query = WebForm()
    var body = Body.none
    var purpose = Purpose.other
    /// Whether it goes out with the credential of the API. Signing in and asking for a new token do not.
    var isSigned = true
    /// What is in the query or the body and must not come back in an error.
    var secrets: [Secret] = []

    init(_ method: HTTPMethod, _ path: String) {
        self.method = method
        self.path = path
    }
}

/// Names and values as the query of an address and the body of a form have them. It may hold passwords, so that it
/// prints as nothing.
struct WebForm: CustomStringConvertible {
    private var text = ""

    var isEmpty: Bool { text.isEmpty }
    var description: String { "‹redacted›" }

    init() {}

    /// Adds a pair, or nothing when there is no value.
    mutating func add(_ name: String, _ value: String?) {
        guard let value else { return }
        text += (text.isEmpty ? "" : "&") + "\(Self.encode(name))=\(Self.encode(value))"
    }

    mutating func add(_ name: String, _ value: Secret) {
        value.withText { add(name, $0) }
    }

    /// Lends the pairs to the code that sends them.
    func withText<Result, Failure: Error>(_ body: (String) throws(Failure) -> Result) throws(Failure) -> Result {
        try body(text)
    }

    /// Everything but what RFC 3986 leaves without a meaning is escaped, so that it can stand anywhere in an address.
    static func encode(_ text: String) -> String {
        var encoded = ""
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                encoded += (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
            }
        }
        return encoded
    }
}
