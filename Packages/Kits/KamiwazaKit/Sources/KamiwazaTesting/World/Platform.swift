import Capabilities
import HTTPCore
import HTTPServer
import JSON

/// Everything that the platform knows, as one value that changes under a lock.
struct Platform: Sendable {
    struct Access: Sendable {
        let account: String
        let session: Int
        let expires: Timestamp
    }

    struct Refresh: Sendable {
        let account: String
        let session: Int
        let expires: Timestamp
        var isUsed = false
    }

    struct Personal: Sendable {
        let token: String
        let id: String
        let jti: String
        let owner: String
        let name: String?
        let lifetime: Int?
        let scope: String?
        let audience: String?
        let created: Timestamp
        var isRevoked = false

        var expires: Timestamp? { lifetime.map { created.after(.seconds($0)) } }
    }

    let setup: KamiwazaSetup
    var accounts: [KamiwazaSetup.Account]
    /// Kept when they are over, so that a token that was valid once is told from one that never was.
    var access: [String: Access] = [:]
    var refresh: [String: Refresh] = [:]
    var personal: [Personal] = []
    var endedSessions: Set<Int> = []
    var codes: [String: Code] = [:]
    var logins: [String: BrowserLogin] = [:]
    var devices: [Device] = []
    var requests: [SeenRequest] = []
    var faults: [String: (fault: Fault, times: Int)] = [:]
    private var sessions = 0

    init(_ setup: KamiwazaSetup) {
        self.setup = setup
        accounts = setup.accounts
    }

    var now: Timestamp { setup.now() }

    mutating func newSession() -> Int {
        sessions += 1
        return sessions
    }

    func account(_ name: String) -> KamiwazaSetup.Account? { accounts.first { $0.name == name } }
}

extension Timestamp {
    func after(_ duration: Duration) -> Timestamp {
        let (seconds, attoseconds) = duration.components
        return Timestamp(microseconds: microseconds + seconds * 1_000_000 + attoseconds / 1_000_000_000_000)
    }

    var secondsSince1970: Int { Int(microseconds / 1_000_000) }
}
