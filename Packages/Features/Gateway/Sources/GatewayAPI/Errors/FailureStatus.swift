import Capabilities
import GatewayStore
import GatewayTurns
import HTTPCore
import JSON
import ToolKit

/// The status that tells of a failure.
enum FailureStatus {
    /// Nil where the usual one of its exit code is right.
    static func known(_ failure: any Failure) -> HTTPStatus? {
        switch failure {
        case let error as GatewayError: HTTPStatus(error.status)
        case let error as GatewayStoreError: status(of: error.kind)
        case let error as WorkspaceError: status(of: error.kind)
        case is AccessFailure: .forbidden
        default: failure.code == "storage.full" ? .insufficientStorage : nil
        }
    }

    /// Of a turn that failed. What a provider says of us, such as that our key is wrong, is not the client's fault.
    static func status(of failure: any Failure) -> HTTPStatus {
        if let known = known(failure) { return known }
        let told = failure.details["status"]?.int
        if failure.code.hasPrefix("gateway."), let told { return HTTPStatus(told) }
        switch told {
        case 400, 404, 413, 422, 429, 503, 529: return HTTPStatus(told ?? 400)
        case 408, 504: return .gatewayTimeout
        case .some: return .badGateway
        case nil: break
        }
        if let status = meant(by: failure.code) { return status }
        return switch failure.exit {
        case .usage: .badRequest
        case .interrupted: .serviceUnavailable
        default: .badGateway
        }
    }

    /// What a provider meant that failed in the midst of its answer, where there is no status.
    private static func meant(by code: String) -> HTTPStatus? {
        switch code {
        case "chat.rate-limited": .tooManyRequests
        case "chat.not-ready": .serviceUnavailable
        case "chat.timed-out": .gatewayTimeout
        case "chat.too-long", "chat.content-refused", "chat.invalid-request": .badRequest
        case "chat.model-not-found": .notFound
        default: nil
        }
    }

    /// Whether the same request will fail again, so that a client should not repeat it although the status says that it may.
    static func isFinal(_ failure: any Failure) -> Bool {
        switch failure.code {
        case "gateway.budget-exceeded", "gateway.round-limit", "gateway.output-limit", "gateway.cost-limit":
            return retryAfter(failure) == nil
        case "chat.key-refused", "chat.forbidden", "chat.no-credit", "chat.no-key", "chat.redirected",
            "chat.bad-address", "chat.too-large":
            return true
        default: return [401, 402, 403].contains(failure.details["status"]?.int)
        }
    }

    /// After how many seconds the same request may be answered, where somebody has said so.
    static func retryAfter(_ failure: any Failure) -> Int? {
        let told = failure.details["retry_after"]?.double ?? failure.details["retryAfterSeconds"]?.double
        guard let told, 0...1e9 ~= told else { return nil }
        return Int(told.rounded(.up))
    }

    private static func status(of kind: GatewayStoreError.Kind) -> HTTPStatus {
        switch kind {
        case .notFound: .notFound
        case .busy, .leaseLost: .conflict
        case .invalid: .badRequest
        default: .internalServerError
        }
    }

    private static func status(of kind: WorkspaceError.Kind) -> HTTPStatus {
        switch kind {
        case .notFound: .notFound
        case .gone, .changed: .conflict
        case .denied: .forbidden
        case .outside, .input, .pattern, .notFile, .notFolder: .badRequest
        default: .internalServerError
        }
    }
}

extension HTTPStatus {
    /// RFC 4918: what has to be stored does not fit.
    static let insufficientStorage = HTTPStatus(507)
}
