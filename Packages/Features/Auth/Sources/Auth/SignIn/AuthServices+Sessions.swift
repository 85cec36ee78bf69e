import AuthSignIn
import Capabilities
import HTTPClient
import KamiwazaKit
import Registry

extension AuthServices {
    /// The profile that somebody wants to sign in to; an address that no profile has becomes one.
    func profile(forLogin server: String?, _ context: ActionContext) async throws -> ServerProfile {
        guard let server, !profiles.names.contains(server) else { return try profiles.chosen(server) }
        guard server.contains(".") || server.contains(":") || server.contains("/") else {
            throw AuthError.unknownProfile(server, known: profiles.names)
        }
        let address = try KamiwazaAddress(server)
        for name in profiles.names {
            let profile = try profiles.profile(named: name)
            if profile.url.isSameOrigin(as: address.url) { return profile }
        }
        let name = freeName(ServerProfile.name(for: address.url))
        let profile = try await add(name, server, nil, use: false, context)
        context.notice("\(profile.url.server) was set up as '\(name)'")
        return profile
    }

    /// The name, or one like it where another server has it already.
    private func freeName(_ name: String) -> String {
        let taken = Set(profiles.names)
        var (free, number) = (name, 1)
        while taken.contains(free) {
            number += 1
            free = "\(name.prefix(60))-\(number)"
        }
        return free
    }

    /// The session that is stored for a server, whatever its state.
    func session(of profile: ServerProfile) async throws -> Session? {
        try await StoredSession(profile: profile, services: self).load()
    }

    /// Whether there is something to sign requests with.
    func requireCredential(_ profile: ServerProfile) async throws {
        if environmentKey(for: profile) != nil { return }
        guard try await session(of: profile) != nil else { throw AuthError.noToken(profile.name) }
    }

    /// Revokes and forgets: the token first, while there is still a credential for that.
    func signOut(_ profile: ServerProfile, _ context: ActionContext) async throws {
        if environmentKey(for: profile) != nil {
            context.notice("KAMIWAZA_API_KEY is still in the environment and goes on being used")
        }
        do {
            if let session = try await session(of: profile), profile.kind == .kamiwaza {
                try await tellServer(of: profile, that: session, context)
            }
        } catch let error as SignInError where error.kind == .unreadable {
            // It is of no use for revoking anything, and it is forgotten like any other.
            context.notice("what was kept of the session could not be read, so nothing was revoked at the server")
        }
        try await forgetCredentials(of: profile)
    }

    private func tellServer(of profile: ServerProfile, that session: Session, _ context: ActionContext) async throws {
        do {
            var api = try api(of: profile, signed: false)
            // A session whose access token is over can still be renewed by whoever has a copy, so it is ended with a new one.
            api.credential = .bearer(try await keeper(for: profile).session().accessToken)
            if case .personal(let id?, _) = session.kind {
                do { try await api.revokePersonalToken(id) } catch let error as KamiwazaError
                    where error.kind == .notFound
                {
                    // Somebody has revoked it already.
                }
            }
            let ended = try await api.logOut()
            if let page = ended.browserURL {
                context.notice("To sign your browser out as well, open:\n  \(PlainText.escape(page))")
            }
        } catch let error as KamiwazaError where error.kind == .signInAgain {
            // The server knows of no session any more, which is what was wanted.
        } catch let error as SignInError where error.kind == .signInAgain {
            // The same, told when the session was to be renewed.
        } catch let error as any Failure {
            // Nobody stays signed in here because a server cannot be reached, but what is left there has to be known.
            context.notice(
                "\(error.message)\nYou are signed out here, but the token may stay valid at \(profile.url.server) until it "
                    + "expires; revoke it there")
        }
    }

    /// How it stands with the credential for a server, without asking the server.
    func status(of profile: ServerProfile) async throws -> StatusRow {
        var row = StatusRow(profile, inUse: profiles.inUse == profile.name)
        if environmentKey(for: profile) != nil {
            (row.state, row.credential) = (.signedIn, "environment")
            return row
        }
        guard let session = try await session(of: profile) else { return row }
        row.user = session.userName
        row.expires = session.expiry
        switch session.kind {
        case .tokens: row.credential = "session"
        case .personal: row.credential = "access token"
        }
        let isOver = session.expiry.map { $0 <= surroundings.now() } ?? false
        row.state = session.hasEnded || (isOver && !session.canBeRenewed) ? .expired : .signedIn
        warnOfExpiry(session, profile)
        return row
    }
}
