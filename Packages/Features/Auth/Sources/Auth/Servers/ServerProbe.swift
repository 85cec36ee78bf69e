import Capabilities
import HTTPClient
import HTTPCore
import JSON
import KamiwazaKit

/// Finds out what a server is, so that an address is kept only after something sensible answered there.
struct ServerProbe: Sendable {
    let client: HTTPClient

    /// The address of the server's API and its kind, which may be known beforehand.
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

    /// What a gateway says about itself; an answer with `status` or `ok` is one.
    func health(of url: HTTPURL) async throws -> JSONObject {
        let response = try await client.send(request(url, "health")).requireSuccess()
        guard let object = try? JSON(parsing: response.body).object, object["status"] != nil || object["ok"] != nil
        else {
            throw HTTPError(
                .badAnswer, "\(url.server) says nothing about its health; check the address of the server",
                status: response.status, server: url.server)
        }
        return object
    }

    private enum Likelihood { case no, maybe, surely }

    /// Some servers of models have a `/health` too, with nothing but a `status` in it.
    private func whetherGateway(_ url: HTTPURL) async throws -> Likelihood {
        do {
            let health = try await health(of: url)
            return ["ok", "version", "active_sessions"].contains { health[$0] != nil } ? .surely : .maybe
        } catch let error as HTTPError where error.kind == .status || error.kind == .badAnswer {
            return .no
        }
    }

    /// Where an OpenAI-compatible server has its API: at the address or at `/v1` below it; nil where there is none.
    private func modelServer(_ url: HTTPURL) async throws -> HTTPURL? {
        let isVersioned = url.path.split(separator: "/").last == "v1"
        for place in isVersioned ? [url] : [try url.appending("v1"), url] where try await listsModels(place) {
            return place
        }
        return nil
    }

    /// Whether models are listed there, or a key is wanted for that.
    private func listsModels(_ url: HTTPURL) async throws -> Bool {
        let response = try await client.send(request(url, "models"))
        // What is no JSON is no such list.
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

/// A server answers at an address, and it is none that is known.
struct ProbeError: Failure {
    let code = "auth.server-kind"
    let exit = ExitCode.unreachable
    let message: String
    let cause: (any Error)?

    init(_ server: String, _ cause: any Error) {
        message =
            "neither a Kamiwaza platform, an agent gateway nor a server of models could be reached at \(server): something "
            + "else answers there; check the address, or say '--kind openai' when it is another server that takes a key"
        self.cause = cause
    }
}

extension HTTPURL {
    /// The address below this one.
    func appending(_ path: String) throws(HTTPError) -> HTTPURL {
        try resolving((self.path.hasSuffix("/") ? self.path : self.path + "/") + path)
    }
}
