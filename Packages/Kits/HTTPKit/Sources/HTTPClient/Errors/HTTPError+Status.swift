import Capabilities
public import HTTPCore
import JSON

extension HTTPError {
    /// An answer whose status means failure, with what the server says about it.
    public init(status: HTTPStatus, headers: HTTPHeaders, body: [UInt8], server: String) {
        var message = "\(server) answered \(status)"
        if let words = Self.words(in: body, headers) { message += ": \(words)" }
        self.init(
            .status, message, status: status,
            retryAfter: RetryAfter(headers, now: .system())?.duration, server: server)
    }

    /// The sentence in one of the usual shapes of an error: `{"error": {"message"}}`, `{"error"}`, `{"message"}`,
    /// `{"detail"}`; or a short plain text.
    private static func words(in body: [UInt8], _ headers: HTTPHeaders) -> String? {
        guard !body.isEmpty, body.count <= 1 << 20 else { return nil }
        var text: String?
        // What is no JSON may still be a sentence; that it cannot be read is no failure here.
        if let json = try? JSON(parsing: body) {
            let error = json["error"]
            text =
                error?["message"]?.string ?? error?.string ?? json["message"]?.string ?? json["detail"]?.string
                ?? json["detail"]?[0]?["msg"]?.string ?? json["error_description"]?.string
        } else if headers["Content-Type"]?.lowercased().hasPrefix("text/plain") ?? false {
            text = String(decoding: body.prefix(2000), as: UTF8.self)
        }
        guard let text else { return nil }
        let line = text.split { $0.isNewline || $0 == "\t" || $0 == " " }.joined(separator: " ")
        guard !line.isEmpty else { return nil }
        return PlainText.escape(line.count > 500 ? line.prefix(500) + "…" : line)
    }
}
