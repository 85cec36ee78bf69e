import AuthSignIn
import AuthVault
import Capabilities
import HTTPClient
import Registry

/// Signs requests to model vendors with their keys, and requests to servers with the sessions of their profiles.
///
/// A credential is sent only to the server that it belongs to; a request to any other server is rejected.
final class ServerAuthenticator: Authenticator {
    private let services: AuthServices

    init(services: AuthServices) {
        self.services = services
    }

    func sign(_ request: inout RequestHead, for server: ServerID) async throws {
        let url = try HTTPURL(request.url)
        if services.profiles.names.contains(server.name) {
            try await sign(&request, url, as: try services.profiles.profile(named: server.name))
        } else if let vendor = ModelVendor.named(server.name) {
            try await sign(&request, url, with: vendor)
        }
    }

    private func sign(_ request: inout RequestHead, _ url: HTTPURL, with vendor: ModelVendor) async throws {
        guard let key = try await services.secrets.secret(named: vendor.name) else { return }
        var address: HTTPURL?
        if case .environment? = try await services.layered.source(of: vendor.name) {
            address = vendor.address(in: services.surroundings.environment)
        }
        let destination = CredentialDestination.key(of: vendor, beside: address)
        guard try request.authorize(with: key, in: vendor.header, for: destination) else {
            throw AuthError.wrongDestination(credential: vendor.name.text, host: url.server, meant: destination.servers)
        }
    }

    private func sign(_ request: inout RequestHead, _ url: HTTPURL, as profile: ServerProfile) async throws {
        if let key = services.environmentKey(for: profile) {
            guard try request.authorize(with: key, for: profile.destination) else {
                throw wrongDestination(profile, url)
            }
            return
        }
        let session: Session
        do {
            session = try await self.session(of: profile)
        } catch let error as SignInError where error.kind == .signedOut {
            // A platform would reject the request; other servers may not need a credential.
            guard profile.kind != .kamiwaza else { throw AuthError.noToken(profile.name) }
            return
        }
        guard session.origin == profile.origin,
            try request.authorize(with: session.accessToken, for: profile.destination)
        else { throw wrongDestination(profile, url) }
        services.warnOfExpiry(session, profile)
    }

    func renew(_ refused: RequestHead, for server: ServerID) async throws -> Bool {
        guard services.profiles.names.contains(server.name), let token = refused.token else { return false }
        let profile = try services.profiles.profile(named: server.name)
        guard services.environmentKey(for: profile) == nil else { return false }
        _ = try await session(of: profile, refusing: token)
        return true
    }

    private func session(of profile: ServerProfile, refusing refused: Secret? = nil) async throws -> Session {
        do {
            return try await services.keeper(for: profile).session(refusing: refused)
        } catch let error as SignInError where error.kind == .signInAgain {
            let session = try await services.session(of: profile)
            throw SessionEnded(profile, session, now: services.now(), cause: error)
        }
    }

    private func wrongDestination(_ profile: ServerProfile, _ url: HTTPURL) -> AuthError {
        .wrongDestination(credential: profile.name, host: url.server, meant: profile.destination.servers)
    }
}

extension RequestHead {
    /// The bearer token that `authorize` put there.
    var token: Secret? {
        headers.last { $0.name == "Authorization" }?.value.withText { text in
            text.hasPrefix("Bearer ") ? Secret(String(text.dropFirst(7))) : nil
        }
    }
}
