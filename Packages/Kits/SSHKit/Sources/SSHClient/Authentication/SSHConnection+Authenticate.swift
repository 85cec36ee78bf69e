import CSSHClient
import Capabilities
import LoopKit
import SSHCore

/// What one authentication has tried.
struct AuthenticationState {
    let questions: SSHQuestions
    let loop: EventLoop
    let patience: Duration
    /// Methods that cannot succeed any more.
    var exhausted: Set<String> = []
    /// Keys that were tried, so that none is tried twice after a partial success.
    var triedKeys: Set<HostKey> = []
    /// Keys that only the system's ssh can use, each as a note.
    var unusableKeys: [String] = []
    /// What was left out, and why.
    var notes: [String] = []
    /// Whether something was refused.
    var attempts = 0

    var deadline: ContinuousClock.Instant { .now + patience }
}

extension SSHConnection {
    /// The order of ssh, without what only the system's ssh can do.
    private static let order = ["publickey", "keyboard-interactive", "password"]

    /// How one method ended.
    private enum MethodOutcome {
        case authenticated
        /// The host wants another method in addition to this one.
        case partial([String])
        /// It cannot succeed.
        case failed
    }

    /// Authenticates by the methods that the settings allow, in their order. The host's key was accepted before.
    func authenticate(asking questions: SSHQuestions, loop: EventLoop, patience: Duration) async throws {
        var state = AuthenticationState(questions: questions, loop: loop, patience: patience)
        do {
            guard var offered = try await offeredMethods(&state) else { return }
            let methods = methods
            while let method = methods.first(where: { offered.contains($0) && !state.exhausted.contains($0) }) {
                let outcome: MethodOutcome =
                    switch method {
                    case "publickey": try await tryKeys(offered, &state)
                    case "keyboard-interactive": try await tryAnswers(offered, &state)
                    default: try await tryPassword(offered, &state)
                    }
                switch outcome {
                case .authenticated: return
                case .partial(let next): offered = next
                case .failed: state.exhausted.insert(method)
                }
            }
            throw refusal(offered, state)
        } catch let error as SSHError where error.kind == .disconnected && state.attempts > 0 {
            throw SSHError(
                .authentication,
                "\(account) was not accepted: the host ended the connection after \(state.attempts) attempts"
                    + words(state.notes))
        }
    }

    /// `user@host`, as questions and errors name it.
    private var account: String { "\(settings.user)@\(settings.hostName)" }

    private var methods: [String] {
        let preferred = settings.preferredAuthentications?.split(separator: ",").map(String.init) ?? Self.order
        return preferred.filter { method in
            switch method {
            case "publickey": settings.publicKeyAuthentication != .no
            case "keyboard-interactive": settings.keyboardInteractiveAuthentication && !settings.isBatch
            case "password": settings.passwordAuthentication && !settings.isBatch
            default: false
            }
        }
    }

    private func refusal(_ offered: [String], _ state: AuthenticationState) -> SSHError {
        let list = offered.map { PlainText.escape($0, limit: 40) }.joined(separator: ", ")
        return SSHError(
            .authentication,
            "\(account) was not accepted: the host offers \(list.isEmpty ? "no method" : list), and we have nothing "
                + "\(state.attempts == 0 ? "for that" : "else for that")" + words(state.notes))
    }

    private func words(_ notes: [String]) -> String { notes.isEmpty ? "" : "; " + notes.joined(separator: "; ") }

    /// The methods that the host offers now. Nil if it has accepted the user.
    private func offeredMethods(_ state: inout AuthenticationState) async throws -> [String]? {
        var offered: [String] = []
        let user = settings.user
        let code = try await perform(until: state.deadline) { session in
            if let text = unsafe libssh2_userauth_list(session.raw, user, UInt32(user.utf8.count)) {
                offered = unsafe String(cString: text).split(separator: ",").map(String.init)
                return 0
            }
            if unsafe libssh2_userauth_authenticated(session.raw) != 0 { return 1 }
            let problem = Int(unsafe libssh2_session_last_errno(session.raw))
            return problem == 0 ? Int(LIBSSH2_ERROR_PROTO) : problem
        }
        if code == 1 { return nil }
        guard code == 0 else { throw disconnected(session.problem) }
        return offered
    }

    /// Finds out whether a refusal was a partial success, which libssh2 does not tell: the host then offers other methods.
    private func afterRefusal(_ offered: [String], _ state: inout AuthenticationState) async throws -> MethodOutcome {
        guard let now = try await offeredMethods(&state) else { return .authenticated }
        return now == offered ? .failed : .partial(now)
    }

    /// The result of a call for authentication: true for success, false for a refusal. Throws if the connection is over.
    private func accepted(_ code: Int, _ state: inout AuthenticationState) throws -> Bool {
        if code == 0 { return true }
        let problem = session.problem
        // "Waiting for …": the answer did not come, which hides the reason.
        if problem.hasPrefix("Waiting for") || problem.hasPrefix("Unable to send") {
            throw disconnected("the host has closed it")
        }
        return false
    }
}

// MARK: Keys

extension SSHConnection {
    private func tryKeys(_ offered: [String], _ state: inout AuthenticationState) async throws -> MethodOutcome {
        var files: [PrivateKeyFile] = []
        for path in try settings.identityPaths() {
            do throws(PrivateKeyFile.Problem) {
                if let file = try PrivateKeyFile.read(path) { files.append(file) }
            } catch {
                let note = "\(path) \(error.words)"
                if error.needsSystem { state.unusableKeys.append(note) } else { state.notes.append(note) }
            }
        }
        let (agent, held) = await agentKeys(&state)
        let ofFiles = held.filter { key in files.contains { $0.key == key } }
        let others = settings.identitiesOnly ? [] : held.filter { !ofFiles.contains($0) }
        for key in ofFiles + others {
            guard let agent, isUsable(key, "the agent's key", &state) else { continue }
            if let outcome = try await tryKey(key, of: agent, offered, &state) { return outcome }
        }
        for file in files where !state.triedKeys.contains(file.key) {
            guard isUsable(file.key, file.path, &state) else { continue }
            if let outcome = try await tryKey(in: file, offered, &state) { return outcome }
        }
        // Before a password is asked for, ssh may try the rest.
        if !state.unusableKeys.isEmpty {
            throw SSHError.needsSystem(
                settings, "libssh2 cannot use keys: " + (state.unusableKeys + state.notes).joined(separator: "; "))
        }
        return .failed
    }

    private func agentKeys(_ state: inout AuthenticationState) async -> (AgentClient?, [HostKey]) {
        guard let path = settings.agentSocket, !path.isEmpty else { return (nil, []) }
        do {
            let agent = try AgentClient(path, loop: state.loop)
            return (agent, try await agent.keys(until: state.deadline))
        } catch {
            // ssh goes on without it too.
            state.notes.append((error as? AgentClient.Problem)?.words ?? "the agent cannot be used")
            return (nil, [])
        }
    }

    /// Whether libssh2 can sign with a key. It has only SHA-1 for RSA, which servers refuse.
    private func isUsable(_ key: HostKey, _ name: String, _ state: inout AuthenticationState) -> Bool {
        if state.triedKeys.contains(key) { return false }
        if HostKeyCheck.supported.contains(key.type.name) { return true }
        let note = "\(name) is of the type \(key.type)"
        if !state.unusableKeys.contains(note) { state.unusableKeys.append(note) }
        return false
    }

    /// Nil if the next key can be tried.
    private func tryKey(
        _ key: HostKey, of agent: AgentClient, _ offered: [String], _ state: inout AuthenticationState
    ) async throws -> MethodOutcome? {
        state.triedKeys.insert(key)
        let exchange = SignatureExchange()
        while true {
            let code = try await offer(key, exchange, &state)
            switch code {
            case SignatureExchange.wanted:
                let data = exchange.data
                do {
                    exchange.answer(try await agent.signature(by: key, of: data, until: .now + .seconds(120)))
                } catch let problem as AgentClient.Problem {
                    state.notes.append(problem.words)
                    exchange.answer(nil)
                }
            default:
                if try accepted(code, &state) { return .authenticated }
                state.attempts += 1
                guard exchange.isSigned else { return nil }
                let outcome = try await afterRefusal(offered, &state)
                if case .failed = outcome { return nil }
                return outcome
            }
        }
    }

    /// Offers a key. The host answers first whether it would accept it.
    private func offer(
        _ key: HostKey, _ exchange: SignatureExchange, _ state: inout AuthenticationState
    ) async throws -> Int {
        let user = settings.user
        let context = unsafe Unmanaged.passUnretained(exchange).toOpaque()
            .assumingMemoryBound(to: UnsafeMutableRawPointer?.self)
        return try await perform(until: state.deadline) { session in
            let code = unsafe key.blob.withUnsafeBufferPointer { blob in
                Int(
                    unsafe libssh2_userauth_publickey(
                        session.raw, user, blob.baseAddress, blob.count, SignatureExchange.sign, context))
            }
            return code == Int(LIBSSH2_ERROR_EAGAIN) && exchange.isWaiting ? SignatureExchange.wanted : code
        }
    }

    private func tryKey(
        in file: PrivateKeyFile, _ offered: [String], _ state: inout AuthenticationState
    ) async throws -> MethodOutcome? {
        state.triedKeys.insert(file.key)
        var code: Int
        if file.isEncrypted {
            // The passphrase is asked for only if the host would accept the key.
            let exchange = SignatureExchange()
            exchange.answer(nil)
            code = try await offer(file.key, exchange, &state)
            if try accepted(code, &state) { return .authenticated }
            guard exchange.wasAsked else {
                state.attempts += 1
                return nil
            }
            guard let result = try await decrypting(file, &state) else { return nil }
            code = result
        } else {
            code = try await perform(until: state.deadline, Self.signing(file, settings.user, passphrase: ""))
        }
        if try accepted(code, &state) { return .authenticated }
        state.attempts += 1
        if session.problem.hasPrefix("Callback") { state.notes.append("\(file.path) is damaged") }
        guard code == Int(LIBSSH2_ERROR_PUBLICKEY_UNVERIFIED) else { return nil }
        if case .partial(let next) = try await afterRefusal(offered, &state) { return .partial(next) }
        return nil
    }

    /// Signs with an encrypted key. Nil if there is no passphrase for it.
    private func decrypting(_ file: PrivateKeyFile, _ state: inout AuthenticationState) async throws -> Int? {
        guard let ask = state.questions.passphrase, !settings.isBatch else {
            state.notes.append("\(file.path) needs its passphrase")
            return nil
        }
        for _ in 0..<max(settings.passwordPrompts, 1) {
            guard let passphrase = try await ask(file.path), !passphrase.isEmpty else { break }
            // It takes a tenth of a second of computing, which must not block other tasks.
            let user = settings.user
            let code = try await performElsewhere(until: state.deadline) { session in
                passphrase.withText { SSHConnection.signing(file, user, passphrase: $0)(session) }
            }
            if code == 0 || !session.problem.hasPrefix("Callback") { return code }
        }
        state.notes.append("the passphrase of \(file.path) was not given")
        return nil
    }

    private static func signing(
        _ file: PrivateKeyFile, _ user: String, passphrase: String
    ) -> (SSHHandle) -> Int {
        { session in
            let key = file.key.text
            let code = unsafe file.withText { text, count in
                unsafe libssh2_userauth_publickey_frommemory(
                    session.raw, user, user.utf8.count, key, key.utf8.count, text, count, passphrase)
            }
            return Int(code ?? LIBSSH2_ERROR_FILE)
        }
    }

    /// Makes calls that compute or block on a thread of their own. Nothing else uses the session during authentication.
    private func performElsewhere(
        until deadline: ContinuousClock.Instant?, _ call: @escaping @Sendable (SSHHandle) -> Int
    ) async throws -> Int {
        while true {
            let session = session
            let attempt = try await onOwnThread { session.attempt(call) }
            if !attempt.wouldBlock { return try await perform(until: deadline) { _ in attempt.code } }
            let wanted: Readiness = attempt.isSendingBlocked ? .writable : .readable
            if try await session.transport.descriptor.ready(wanted, until: deadline) == .timedOut {
                throw SSHError(.timedOut, "\(settings.hostName) (\(address)) does not answer in time")
            }
        }
    }
}

// MARK: Passwords and questions

extension SSHConnection {
    private func tryPassword(_ offered: [String], _ state: inout AuthenticationState) async throws -> MethodOutcome {
        guard let ask = state.questions.password else {
            state.notes.append("nobody is there to give the password")
            return .failed
        }
        let user = settings.user
        let prompts = max(settings.passwordPrompts, 1)
        for prompt in 1...prompts {
            guard let password = try await ask(account) else { return .failed }
            let code = try await perform(until: state.deadline) { session in
                password.withText { text in
                    Int(unsafe sshclient_password(session.raw, user, user.utf8.count, text, text.utf8.count))
                }
            }
            if try accepted(code, &state) { return .authenticated }
            state.attempts += 1
            if code == Int(LIBSSH2_ERROR_PASSWORD_EXPIRED) {
                state.notes.append("the password has expired; change it with the system's ssh")
                return .failed
            }
            // Each question costs one of the attempts that the host allows, usually six.
            guard prompt < prompts else { break }
            if case .partial(let next) = try await afterRefusal(offered, &state) { return .partial(next) }
        }
        return .failed
    }

    private func tryAnswers(_ offered: [String], _ state: inout AuthenticationState) async throws -> MethodOutcome {
        guard let ask = state.questions.answers else {
            state.notes.append("nobody is there to answer the host's questions")
            return .failed
        }
        let user = settings.user
        let prompts = max(settings.passwordPrompts, 1)
        for prompt in 1...prompts {
            let exchange = KeyboardExchange(account: account, ask)
            session.transport.keyboard = exchange
            defer { session.transport.keyboard = nil }
            let code = try await withTaskCancellationHandler {
                try await performElsewhere(until: nil) { session in
                    Int(
                        unsafe libssh2_userauth_keyboard_interactive_ex(
                            session.raw, user, UInt32(user.utf8.count), KeyboardExchange.respond))
                }
            } onCancel: {
                exchange.cancel()
            }
            try exchange.rethrow()
            if try accepted(code, &state) { return .authenticated }
            state.attempts += 1
            if exchange.isDeclined { return .failed }
            guard prompt < prompts else { break }
            if case .partial(let next) = try await afterRefusal(offered, &state) { return .partial(next) }
        }
        return .failed
    }
}
