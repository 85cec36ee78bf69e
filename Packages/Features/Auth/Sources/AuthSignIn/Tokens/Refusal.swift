import Capabilities
import HTTPClient
import HTTPCore
import JSON

/// A server's refusal in the shape of RFC 6749, section 5.2.
struct Refusal {
    /// The code of the refusal, such as `invalid_grant`; nil where the answer has no such shape.
    let code: String?
    private let words: String?
    private let status: HTTPStatus
    private let server: String

    init(_ response: HTTPResponse, hiding secrets: [Secret]) {
        // A refusal that is no JSON is told by its status.
        let json = try? response.jsonObject()
        code = ForeignWords.line(json?["error"]?.string, hiding: secrets)
        words = ForeignWords.line(json?["error_description"]?.string, hiding: secrets)
        status = response.status
        server = response.url.server
    }

    /// The refusal as an error about what was asked for: "the sign-in", "to renew the session".
    func error(_ purpose: String) -> SignInError {
        if status.code == 429 || status.code >= 500 {
            return SignInError(
                .unreachable, "\(server) answered \(status) to \(subject(purpose)); try again later", reason: code)
        }
        let message = "\(server) refused \(purpose): \(Self.sentence(code) ?? "it answered \(status)")"
        let whole = words.map { "\(message) (\($0))" } ?? message
        // A mistake in the request says nothing about the token that was in it.
        let isFinal = code == "invalid_grant" || status.code == 401 || status.code == 403 || Self.denials.contains(code)
        return isFinal ? .refused(whole, reason: code) : SignInError(.badAnswer, whole, reason: code)
    }

    private func subject(_ purpose: String) -> String {
        purpose.hasPrefix("to ") ? "the request \(purpose)" : purpose
    }

    private static let denials: [String?] = ["access_denied", "unauthorized_client", "invalid_client", "expired_token"]

    static func sentence(_ code: String?) -> String? {
        guard let code else { return nil }
        return switch code {
        case "invalid_grant": "the code or token is not valid any more; sign in again"
        case "invalid_client": "it does not know this program under the client id that is set"
        case "unauthorized_client": "it does not allow this program to sign people in this way"
        case "access_denied": "the sign-in was declined"
        case "expired_token": "the time for the sign-in is over; start it again"
        case "not_allowed": "it does not allow this user or program what was asked for"
        case "invalid_scope": "it does not know, or does not grant, what was asked for"
        case "unsupported_grant_type", "unsupported_response_type": "it does not offer this way of signing in"
        case "invalid_request": "it does not understand the request"
        case "login_required", "interaction_required", "consent_required": "it needs somebody to answer in the browser"
        case "server_error": "something went wrong inside of it"
        case "temporarily_unavailable": "it is busy; try again later"
        default: "it says \(code)"
        }
    }
}
