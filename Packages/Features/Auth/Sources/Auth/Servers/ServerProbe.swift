import Capabilities
import HTTPClient
import HTTPCore
import JSON
import KamiwazaKit

/// Detects the kind of a server, so that an address is saved only after a known kind of server answered there.
struct ServerProbe: Sendable {
    let client: HTTPClient

    /// The address of the server's API and its kind, which may be given.
    func find(_ typed: String, kind: ServerKind?) async throws -> (url: HTTPURL, kind: ServerKind) {
        let address = try KamiwazaAddress(typed)
        switch kind {
        case .kamiwaza: return (try await address.discover(using: client), .kamiwaza)
        case .gateway:
            _ = try await health(of: address.url)
            return (address.url, .gateway)
        case .openai:
            _ = try await client.send(request(address.url, "models"))
            return (address.url, .openai)
        case nil:
            do {
                return (try await address.discover(using: client), .kamiwaza)
            } catch let error as KamiwazaError where error.kind == .notAPlatform {
                let gateway = try await whetherGateway(address.url)
                if gateway == .surely { return (address.url, .gateway) }
                if let models = try await modelServer(address.url) { return (models, .openai) }
                guard gateway == .maybe else { throw ProbeError(address.url.server, error) }
                return (address.url, .gateway)
            }
        }
    }

    /// The health that a gateway reports: an object with `status` or `ok`.
    func health(of url: HTTPURL) async throws -> JSONObject {
        let response = try await client.send(request(url, "health")).requireSuccess()
        guard let object = try? JSON(parsing: response.body).object, object["status"] != nil || object["ok"] != nil
        else {
            throw HTTPError(
                .badAnswer, "\(url.server) did not report its health; check the server address",
                status: response.status, server: url.server)
        }
        return object
    }

    private enum Likelihood { case no, maybe, surely }

    /// Some model servers also have a `/health` that contains only a `status`.
    private func whetherGateway(_ url: HTTPURL) async throws -> Likelihood {
        do {
            let health = try await health(of: url)
            return ["ok", "version", "active_sessions"].contains { health[$0] != nil } ? .surely : .maybe
        } catch let error as HTTPError where error.kind == .status || error.kind == .badAnswer {
            return .no
        }
    }

    /// The address of an OpenAI-compatible API: the given address or `/v1` below it. Nil when there is none.
    private func modelServer(_ url: HTTPURL) async throws -> HTTPURL? {
        let isVersioned = url.path.split(separator: "/").last == "v1"
        for place in isVersioned ? [url] : [try url.appending("v1"), url] where try await listsModels(place) {
            return place
        }
        return nil
    }

    /// Whether the server lists models there, or requires a key for that.
    private func listsModels(_ url: HTTPURL) async throws -> Bool {
        let response = try await client.send(request(url, "models"))
        guard let answer = try? JSON(parsing: response.body).object else { return false }
        switch response.status.code {
        case 200: return answer["data"]?.array != nil
        case 401, 403: return answer["error"] != nil
        default: return false
        }
    }

    private func request(_ base: HTTPURL, _ path: String) throws(HTTPError) -> HTTPRequest {
        var request = HTTPRequest(.get, try base.appending(path))
        request.limits.body = 1 << 20
        request.limits.total = .seconds(30)
        return request
    }
}

/// A server answers at an address, but its kind is not known.
struct ProbeError: Failure {
    let code = "auth.server-kind"
    let exit = ExitCode.unreachable
    let message: String
    let cause: (any Error)?

    init(_ server: String, _ cause: any Error) {
        message =
            "\(server) is not a Kamiwaza platform, an agent gateway or a model server: something else answers there; "
            + "check the address, or use '--kind openai' for another server that takes a key"
        self.cause = cause
    }
}

extension HTTPURL {
    /// The address of a path below this one.
    func appending(_ path: String) throws(HTTPError) -> HTTPURL {
        try resolving((self.path.hasSuffix("/") ? self.path : self.path + "/") + path)
    }
}
