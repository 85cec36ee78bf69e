import Capabilities
import HTTPCore
import JSON

/// A request to the platform, independent of the server and the credential.
struct KamiwazaCall {
    /// The purpose, which decides how a refusal is reported.
    enum Purpose { case signIn, refresh, other }

    enum Body {
        case none
        case form(WebForm)
        case json(JSON)
    }

    var method: HTTPMethod
    /// The path below the base of the API, with a leading slash and every part escaped.
    var path: String
    var query = WebForm()
    var body = Body.none
    var purpose = Purpose.other
    /// Whether it is sent with the API's credential. Signing in and refreshing are not.
    var isSigned = true
    /// Secrets in the query or the body that must not appear in an error.
    var secrets: [Secret] = []

    init(_ method: HTTPMethod, _ path: String) {
        self.method = method
        self.path = path
    }
}

/// Names and values of a query or a form body. It may contain passwords, so its description is empty.
struct WebForm: CustomStringConvertible {
    private var text = ""

    var isEmpty: Bool { text.isEmpty }
    var description: String { "‹redacted›" }

    init() {}

    /// Adds a pair, or nothing when there is no value.
    mutating func add(_ name: String, _ value: String?) {
        guard let value else { return }
        text += (text.isEmpty ? "" : "&") + "\(PercentEncoding.encode(name))=\(PercentEncoding.encode(value))"
    }

    mutating func add(_ name: String, _ value: Secret) {
        value.withText { add(name, $0) }
    }

    /// Passes the encoded pairs to the code that sends them.
    func withText<Result, Failure: Error>(_ body: (String) throws(Failure) -> Result) throws(Failure) -> Result {
        try body(text)
    }
}
