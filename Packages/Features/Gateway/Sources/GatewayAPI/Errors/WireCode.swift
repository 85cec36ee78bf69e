/// How the reason of a failure is written for clients: `gateway.session-busy` as `session_busy`.
enum WireCode {
    /// Where clients of such APIs know another word.
    private static let known = [
        "server.inputs": "validation_error", "server.json": "invalid_json", "server.unauthorized": "invalid_api_key",
        "server.internal": "internal_error", "server.host": "unknown_host", "server.origin": "origin_not_allowed",
        "server.method": "method_not_allowed", "server.type": "unsupported_media_type",
        "server.malformed": "malformed_request", "storage.full": "storage_full",
        "chat.too-long": "context_length_exceeded",
    ]

    static func text(of code: String) -> String {
        if let word = known[code] { return word }
        let last = code.split(separator: ".").last.map(String.init) ?? code
        return last.replacing("-", with: "_")
    }
}
