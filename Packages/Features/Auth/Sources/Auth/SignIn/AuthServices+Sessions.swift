import AuthSignIn
import AuthVault
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
        if case .personal(nil, _) = session.kind {
            context.notice(
                "the access token names no id, so it was not revoked and stays valid at \(profile.url.server); revoke it "
                    + "there")
        }
        do {
            // A session whose access token is over can still be renewed by whoever has a copy, so it is ended with a new one.
            let page = try await end(try await keeper(for: profile).session(), at: profile)
            if let page { context.notice("To sign your browser out as well, open:\n  \(PlainText.escape(page))") }
        } catch let error as SignInError where error.kind == .signInAgain {
            // The server knows of no session any more, which is what was wanted.
        } catch let error as any Failure {
            // Nobody stays signed in here because a server cannot be reached, but what is left there has to be known.
            context.notice(
                "\(error.message)\nYou are signed out here, but the token may stay valid at \(profile.url.server) until it "
                    + "expires; revoke it there")
        }
    }

    // MARK: What is left at a server

    /// Opens where sessions are kept, before a server makes a token that nobody could keep.
    func openSecrets(for profile: ServerProfile) async throws {
        _ = try await layered.kept.secret(named: profile.sessionName)
    }

    /// Keeps a new session and returns the one that it replaces. One that cannot be kept is ended at the server, since
    /// nobody has it then.
    func adopt(_ session: Session, for profile: ServerProfile, _ context: ActionContext) async throws -> Session? {
        do {
            return try await keeper(for: profile).adopt(session)
        } catch {
            await discard(session, of: profile, context)
            throw error
        }
    }

    /// Ends a session that this program got from the server and that nobody keeps any more; a failure is told. A token
    /// that somebody brought is left alone: others may use it.
    func discard(_ session: Session, of profile: ServerProfile, _ context: ActionContext) async {
        guard profile.kind == .kamiwaza, session.isMadeHere, !session.hasEnded else { return }
        // Awaited here, but not cancelled with whoever signs in: what the server made does not go away by that.
        await Task {
            do {
                _ = try await end(session, at: profile)
            } catch let error as KamiwazaError where error.kind == .sessionEnded {
                // It is over already.
            } catch {
                context.notice(
                    "\(AnyFailure(error).message)\n\(session.words) that is not used any more may stay valid at "
                        + "\(profile.url.server) until it expires; revoke it there")
            }
        }.value
    }

    /// Ends a session at its server, and returns the page that ends the browser's, where there is one. A personal token is
    /// revoked first, while there is still a credential for that. What fails is thrown after everything was tried.
    private func end(_ session: Session, at profile: ServerProfile) async throws -> String? {
        var api = try api(of: profile, signed: false)
        var token = session.accessToken
        if session.canBeRenewed, session.isStale(at: surroundings.now()), let refreshToken = session.refreshToken {
            token = try await api.refresh(refreshToken).accessToken
        }
        api.credential = .bearer(token)
        var failure: (any Error)?
        if case .personal(let id?, _) = session.kind {
            do {
                try await api.revokePersonalToken(id)
            } catch let error as KamiwazaError where error.kind == .notFound || error.kind == .signInAgain {
                // Somebody has revoked it already.
            } catch {
                failure = error
            }
        }
        do {
            let ended = try await api.logOut()
            if let failure { throw failure }
            return ended.browserURL
        } catch let error as KamiwazaError where error.kind == .signInAgain {
            // The server knows of no session any more, which is what was wanted.
            if let failure { throw failure }
            return nil
        } catch {
            throw failure ?? error
        }
    }

    /// How it stands with the credential for a server, without asking the server.
    func status(of profile: ServerProfile) async throws -> StatusRow {
        var row = StatusRow(profile, inUse: profiles.inUse == profile.name)
        if environmentKey(for: profile) != nil {
            (row.state, row.credential) = (.signedIn, "environment")
            return row
        }
        guard let session = try await session(of: profile) else {
            // Whether such a server wants a key, only the server knows.
            if profile.kind == .openai { row.state = .noKey }
            return row
        }
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

extension Session {
    /// Whether this program got it from the server, and not from a person who had it before.
    fileprivate var isMadeHere: Bool {
        if case .personal(_, let name) = kind { name != nil } else { true }
    }

    fileprivate var words: String { kind == .tokens ? "a session" : "an access token" }
}
