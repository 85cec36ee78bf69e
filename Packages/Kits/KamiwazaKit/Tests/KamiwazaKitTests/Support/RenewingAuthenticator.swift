import Capabilities
import KamiwazaKit
import Synchronization

/// Signs with the first token and renews with the next ones.
final class RenewingAuthenticator: Authenticator {
    private let tokens: Mutex<[Secret]>
    private let count = Mutex(0)

    init(_ tokens: Secret...) {
        self.tokens = Mutex(tokens)
    }

    var renewals: Int { count.withLock { $0 } }

    func sign(_ request: inout RequestHead, for server: ServerID) async throws {
        guard let token = tokens.withLock({ $0.first }) else { return }
        request.headers.append((name: "Authorization", value: Secret("Bearer \(token.withText { $0 })")))
    }

    func renew(_ refused: RequestHead, for server: ServerID) async throws -> Bool {
        count.withLock { $0 += 1 }
        return tokens.withLock { tokens in
            guard tokens.count > 1 else { return false }
            tokens.removeFirst()
            return true
        }
    }
}
