import Capabilities
import Synchronization

extension SessionKeeper {
    /// Starts the work that brings a usable session. Its task is awaited by `close`, and never cancelled.
    ///
    /// - Parameter mark: how the stored session looked before this. What the renewal itself stores changes it, so that
    ///   the request after it reads once more; taken later, it could hide what somebody else stored in between.
    func begin(_ refused: Secret?, generation: Int, mark: SessionMark?) -> Renewal {
        let work = SharedWork<Session>()
        let task = Task {
            let result: Result<Session, any Error>
            do { result = .success(try await obtain(refusing: refused)) } catch { result = .failure(error) }
            // Before the waiters go on, so that one who calls again does not meet this renewal again.
            state.withLock { state in
                state.renewal = nil
                guard state.generation == generation else { return }
                switch result {
                case .success(let session): (state.current, state.mark) = (session, mark)
                case .failure(let error): if Self.isFinal(error) { state.current = nil }
                }
            }
            work.finish(result)
        }
        return Renewal(work: work, task: task, refused: refused)
    }

    /// Whether only a person can help, so that what is known here is of no more use.
    private static func isFinal(_ error: any Error) -> Bool {
        guard let error = error as? SignInError else { return false }
        return error.kind == .signInAgain || error.kind == .signedOut
    }

    private func obtain(refusing refused: Secret?) async throws -> Session {
        // First without the lock: most of the time there is nothing to renew.
        if state.withLock({ $0.unsaved == nil }) {
            let seen = try await load()
            if isUsable(seen, refusing: refused) { return seen }
            guard seen.canBeRenewed else { throw SignInError.signInAgain() }
            if let failed = state.withLock({ $0.failed }), failed.holds(seen.accessToken, at: now()) {
                throw failed.error
            }
        }
        return try await source.exclusively { [self] in
            try await save()
            // Somebody else may have renewed it, or signed in or out, while this one waited for the lock.
            let stored = try await load()
            if isUsable(stored, refusing: refused) { return stored }
            return try await renew(stored)
        }
    }

    private func load() async throws -> Session {
        guard let session = try await source.load() else { throw SignInError.signedOut }
        return session
    }

    /// The one place that sends a refresh token.
    private func renew(_ old: Session) async throws -> Session {
        guard old.canBeRenewed else { throw SignInError.signInAgain() }
        var new: Session
        do {
            new = try await source.renew(old)
        } catch let error as SignInError where error.kind == .refused {
            var ended = old
            ended.hasEnded = true
            try await source.store(ended)
            throw SignInError.signInAgain(cause: error)
        } catch {
            state.withLock { state in
                let last = state.failed.flatMap { $0.token.equals(old.accessToken) ? $0.wait : nil }
                let wait = last.map { min($0 * 2, Self.longestPause) } ?? Self.firstPause
                state.failed = FailedRenewal(token: old.accessToken, error: error, failed: now(), wait: wait)
            }
            throw error
        }
        if new.refreshToken == nil { new.refreshToken = old.refreshToken }
        // Kept here until it is stored: the server may not take the old refresh token any more.
        state.withLock { ($0.unsaved, $0.failed) = ((new, old.accessToken), nil) }
        try await save()
        return new
    }

    /// Stores what was not stored yet, unless somebody has signed in or out since. Only inside the lock.
    private func save() async throws {
        guard let (session, replaced) = state.withLock({ $0.unsaved }) else { return }
        if let stored = try await source.load(), stored.accessToken.equals(replaced) {
            try await source.store(session)
        }
        state.withLock { state in
            if let unsaved = state.unsaved, unsaved.session.accessToken.equals(session.accessToken) {
                state.unsaved = nil
            }
        }
    }

    /// The last chance for tokens that storage refused before.
    func saveAtLast() async {
        guard state.withLock({ $0.unsaved != nil }) else { return }
        // The failure was told to those who waited for these tokens, and nobody is left who could be told it again.
        do { try await source.exclusively { [self] in try await save() } } catch {}
    }
}
