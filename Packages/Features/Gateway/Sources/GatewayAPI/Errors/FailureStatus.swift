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
        default: failure.code == "storage.full" ? .insufficientStorage : nil
        }
    }

    /// Of a turn that failed. What a provider says of us, such as that our key is wrong, is not the client's fault.
    static func status(of failure: any Failure) -> HTTPStatus {
        if let known = known(failure) { return known }
        let told = failure.details["status"]?.int
        if failure.code.hasPrefix("gateway."), let told { return HTTPStatus(told) }
        switch told {
        case 400, 404, 413, 422, 429: return HTTPStatus(told ?? 400)
        case 503, 529: return .serviceUnavailable
        case 408, 504: return .gatewayTimeout
        case .some: return .badGateway
        case nil: break
        }
        return switch failure.exit {
        case .usage: .badRequest
        case .interrupted: .serviceUnavailable
        default: .badGateway
        }
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
