import JSON
import RPCKit

/// What has come in answer to one request.
struct RequestAnswer {
    private let request: RPCRequest
    private let receive: @Sendable (RPCEvent) -> Void
    /// Runs before a result is passed on.
    private let onResult: (JSON) throws(RPCFailure) -> Void
    /// Whether the request is answered.
    private(set) var isDone = false

    init(
        to request: RPCRequest, _ receive: @escaping @Sendable (RPCEvent) -> Void,
        onResult: @escaping (JSON) throws(RPCFailure) -> Void = { (_) throws(RPCFailure) in }
    ) {
        self.request = request
        self.receive = receive
        self.onResult = onResult
    }

    /// Passes messages on, and returns whether the request is answered.
    @discardableResult
    mutating func take(_ text: [UInt8]) throws(RPCFailure) -> Bool {
        for part in RPCBody(text).parts {
            switch part {
            case .message(.response(let response)) where belongs(response): try take(response)
            case .message(let message): receive(.message(message))
            case .malformed(let malformed):
                receive(.malformed(malformed))
                if malformed.isResponse, malformed.id == request.id { isDone = true }
            }
        }
        return isDone
    }

    private mutating func take(_ response: RPCResponse) throws(RPCFailure) {
        // The first answer counts.
        guard !isDone else { return }
        if case .success(let result) = response.result { try onResult(result) }
        isDone = true
        receive(.message(.response(RPCResponse(request.id, response.result))))
    }

    /// An error in the answer to a request is for that request, even if the server had not read its id yet: then it has
    /// none, or one of the server's own invention.
    private func belongs(_ response: RPCResponse) -> Bool {
        guard let id = response.id else { return true }
        if id == request.id || id.json.string == request.id.description { return true }
        if let number = id.json.double, number == request.id.json.double { return true }
        if case .failure = response.result, id.json.string != nil { return true }
        return false
    }
}

extension RPCRequest {
    /// The revision that a request of the modern era names; nil in the legacy era.
    var modernVersion: String? { params?["_meta"]?["io.modelcontextprotocol/protocolVersion"]?.string }
}
