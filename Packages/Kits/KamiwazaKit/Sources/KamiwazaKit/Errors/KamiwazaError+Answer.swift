import Capabilities
import HTTPClient
import HTTPCore

extension KamiwazaError {
    /// What an answer whose status means failure says, where the meaning depends on what was asked.
    init(_ response: HTTPResponse, to call: KamiwazaCall, redactor: Redactor) {
        let server = response.url.server
        let words = ServerWords(response, redactor: redactor)
        let because = words.text.map { ": \($0)" } ?? ""
        let (kind, message): (Kind, String)
        switch (response.status.code, call.purpose) {
        case (401, .signIn):
            (kind, message) = (.wrongPassword, "the user name or the password is wrong; check both and try again")
        case (400, .signIn) where words.mentions("invalid_grant"):
            (kind, message) = (.wrongPassword, "the user name or the password is wrong; check both and try again")
        case (403, .signIn):
            (kind, message) = (
                .wrongPassword, "the user name or the password is wrong, or this account may not sign in\(because)"
            )
        case (423, _):
            let wait = words.retryAfter.map { "try again in \($0.words)" } ?? "wait a while"
            (kind, message) = (.locked, "the account is locked; \(wait), or ask an administrator to unlock it")
        case (400, .refresh), (401, .refresh), (403, .refresh):
            (kind, message) = (.sessionEnded, "the session at \(server) has ended; sign in again")
        case (401, _):
            (kind, message) = (.signInAgain, "\(server) does not accept the sign-in any more; sign in again")
        case (403, _):
            (kind, message) = (.forbidden, "this account has no permission for that at \(server)\(because)")
        case (404, _):
            (kind, message) = (.notFound, "\(server) has nothing at \(call.path)\(because)")
        case (408, _), (504, _):
            (kind, message) = (.timedOut, "\(server) did not get an answer in time itself; try again later")
        case (429, _):
            (kind, message) = (.tooManyRequests, "\(server) was asked too often\(Self.wait(words))\(because)")
        case (502, _), (503, _):
            (kind, message) = (.notReady, "\(server) is not ready\(Self.wait(words))\(because)")
        case (500..., _):
            (kind, message) = (
                .serverFailed,
                "something went wrong inside of \(server) (\(response.status))\(because); try again later"
            )
        case (400..., _):
            (kind, message) = (.refused, "\(server) refused the request (\(response.status))\(because)")
        case (300..., _):
            (kind, message) = (.redirected, "\(server) sends this request elsewhere; check the address of the server")
        default:
            (kind, message) = (.badAnswer, "\(server) answered \(response.status), which means nothing here")
        }
        self.init(kind, message, status: response.status.code, retryAfter: words.retryAfter)
    }

    private static func wait(_ words: ServerWords) -> String {
        words.retryAfter.map { "; try again in \($0.words)" } ?? "; try again later"
    }
}
