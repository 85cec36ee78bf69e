import Capabilities
import Cryptography
import FileKit
import HTTPServer
import Synchronization

/// The token of the hosts that come over HTTP, in a file that only this user can read.
///
/// Removing or replacing the file revokes the token: its grant is withdrawn, and calls that run end. A new token in the
/// file is good from the next request on.
final class TokenFile: Sendable {
    private struct State {
        var mark: FileMark?
        var token: Secret?
        var client: (principal: Principal, limits: GrantLimits)?
    }

    /// The least characters of a token that somebody has written into the file.
    private static let shortest = 32
    private static let largest = 4_096
    /// How often the file is looked at while nobody asks.
    private static let interval = Duration.seconds(1)

    let path: String
    private let redactor: Redactor
    /// Makes the grant of a new token.
    private let grant: @Sendable (GrantLimits) -> Grant
    /// Tells why a token is not accepted.
    private let tell: @Sendable (String) -> Void
    private let state = Mutex(State())
    private let news = Signal()

    /// Uses the token in the file, and creates one if there is no file.
    ///
    /// - Throws: `FileError`; `ServeFailure` if others can read the file, or if there is no good token in it.
    init(
        _ path: String, _ redactor: Redactor, telling tell: @escaping @Sendable (String) -> Void,
        grant: @escaping @Sendable (GrantLimits) -> Grant
    ) throws {
        (self.path, self.redactor, self.tell, self.grant) = (path, redactor, tell, grant)
        if try Files.mark(path) == nil {
            try Files.makeDirectories(PathParts(path).folder)
            let token = Secret("mms_" + Base64URL.encode(try Random.bytes(32)))
            try token.withText { text throws(FileError) in
                try Files.writeAtomically(Array("\(text)\n".utf8), to: path, mode: 0o600)
            }
        }
        let mark = try Files.mark(path)
        let token = try read()
        state.withLock { _ = adopt(token, mark, &$0) }
    }

    // MARK: For requests

    /// The client with a token; nil for nobody's.
    func principal(_ shown: String) -> Principal? {
        look()
        return state.withLock { state in
            guard let token = state.token, Secret(shown).equals(token) else { return nil }
            return state.client?.principal
        }
    }

    /// Waits until the token of a client is no longer valid.
    func revoked(_ principal: Principal) async throws {
        while true {
            let seen = news.count
            if state.withLock({ $0.client?.principal.credential != principal.credential }) { return }
            try await news.wait(beyond: seen)
        }
    }

    /// Looks at the file until the task is cancelled, so that calls which run end with the token.
    func watch(on clock: any Clock<Duration>) async {
        while true {
            do { try await clock.sleep(for: Self.interval) } catch { return }
            look()
        }
    }

    // MARK: The file

    /// Takes note of a change of the file.
    func look() {
        let isChanged = state.withLock { state in
            let mark: FileMark?
            do throws(FileError) { mark = try Files.mark(path) } catch {
                // A file that cannot be looked at gives no rights.
                mark = nil
            }
            if mark == state.mark { return false }
            let token: Secret?
            do { token = mark == nil ? nil : try read() } catch {
                token = nil
                tell("the token in \(PlainText.escape(path)) is not accepted: \(AnyFailure(error).message)")
            }
            return adopt(token, mark, &state)
        }
        if isChanged { news.raise() }
    }

    /// Returns whether another token is valid now.
    private func adopt(_ token: Secret?, _ mark: FileMark?, _ state: inout State) -> Bool {
        state.mark = mark
        if let token, let known = state.token, token.equals(known) { return false }
        let hadToken = state.token != nil
        state.client?.limits.withdraw()
        (state.token, state.client) = (token, nil)
        guard let token else { return hadToken }
        redactor.learn(token)
        let limits = GrantLimits()
        let digest = token.withText { Hexadecimal.encode(Digest.sha256(Array($0.utf8))) }
        state.client = (Principal("MCP host", grant: grant(limits), credential: digest), limits)
        return true
    }

    private func read() throws -> Secret {
        let info = try Files.info(path)
        guard info.mode & 0o077 == 0 else {
            throw ServeFailure(
                .token, "\(PlainText.escape(path)) can be read by others; run 'chmod 600' on it", exit: .denied)
        }
        let text = String(decoding: try Files.read(path, limit: Self.largest), as: UTF8.self)
        let words = text.split(whereSeparator: \.isWhitespace)
        guard words.count == 1, words[0].utf8.count >= Self.shortest else {
            throw ServeFailure(
                .token,
                "\(PlainText.escape(path)) must contain one token of at least \(Self.shortest) characters; remove the file, "
                    + "and a new one is made",
                exit: .denied)
        }
        return Secret(String(words[0]))
    }
}
