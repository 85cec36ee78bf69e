public import JSON
public import ModelKit

extension AnthropicDialect {
    /// An error as Anthropic's clients read it, in a stream or as the whole body. The status says the rest.
    public static func envelope(_ refusal: ServerRefusal, requestID: String? = nil) -> JSONObject {
        let error: JSON = ["type": .string(refusal.type ?? "api_error"), "message": .string(refusal.message)]
        return ["type": "error", "error": error, "request_id": requestID.map(JSON.string) ?? .null]
    }

    /// The type of an error that goes with a status.
    public static func errorType(status: Int) -> String {
        switch status {
        case 400, 422: "invalid_request_error"
        case 401: "authentication_error"
        case 402: "billing_error"
        case 403: "permission_error"
        case 404: "not_found_error"
        case 413: "request_too_large"
        case 429: "rate_limit_error"
        case 504: "timeout_error"
        case 503, 529: "overloaded_error"
        case 400..<500: "invalid_request_error"
        default: "api_error"
        }
    }
}
