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
