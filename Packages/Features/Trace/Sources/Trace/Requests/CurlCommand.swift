import Capabilities
import TraceStore

/// A request as a command of curl, without what is secret and what was not recorded.
struct CurlCommand {
    /// One line that a shell can read.
    let text: String

    /// - Throws: `TraceError.notRequest` for other work.
    init(of span: TraceSpan) throws(TraceError) {
        let request = SeenRequest(span, of: "")
        guard let method = request.method, !request.isStream else { throw .notRequest(span.name) }
        var words = ["curl"]
        switch method {
        case "GET": break
        case "HEAD": words.append("--head")
        default: words += ["--request", Self.quoted(method)]
        }
        // In double quotes, so that the shell puts the secret in.
        words += ["--header", #""Authorization: Bearer $TOKEN""#]
        if ["POST", "PUT", "PATCH"].contains(method) {
            words += ["--header", "'Content-Type: application/json'", "--data", "@body.json"]
        }
        text = (words + [Self.address(request)]).joined(separator: " ")
    }

    private static func address(_ request: SeenRequest) -> String {
        let path = request.path ?? "/"
        guard !request.isIncoming, let server = request.server else { return #""$SERVER""# + quoted(path) }
        return quoted("\(request.text(.urlScheme) ?? "https")://\(server)\(path)")
    }

    /// Another program may have sent any text.
    private static func quoted(_ text: String) -> String { ShellWords.quoted(PlainText.escape(text, limit: 2_000)) }
}
