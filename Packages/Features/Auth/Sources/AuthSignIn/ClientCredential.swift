import Capabilities
import HTTPClient
import HTTPCore

/// How this program says to a sign-in server who it is.
struct ClientCredential: Sendable {
    /// How a secret is sent (RFC 6749, section 2.3.1).
    enum Method: String, Sendable {
        case basic = "client_secret_basic"
        case post = "client_secret_post"

        /// The first one that a server accepts, by the names in its configuration. RFC 8414, section 2: "If omitted,
        /// the default is "client_secret_basic"".
        static func first(of names: [String]?) -> Method? {
            guard let names else { return .basic }
            return names.lazy.compactMap(Method.init).first
        }
    }

    /// A secret with the way to send it.
    struct Proof: Sendable {
        let secret: Secret
        let method: Method
    }

    let id: String
    /// Nil for a program that could keep no secret.
    var proof: Proof?

    /// Says in a form, and in its headers, who sends it.
    func sign(_ fields: inout FormFields, _ headers: inout HTTPHeaders) {
        // The reference SDK looks for the client id only in the form.
        fields.append("client_id", id)
        guard let proof else { return }
        proof.secret.withText { secret in
            switch proof.method {
            case .post: fields.append("client_secret", secret)
            case .basic:
                let pair = "\(PercentEncoding.encode(id)):\(PercentEncoding.encode(secret))"
                headers["Authorization"] = "Basic \(Base64.encode(Array(pair.utf8)))"
            }
        }
    }
}
