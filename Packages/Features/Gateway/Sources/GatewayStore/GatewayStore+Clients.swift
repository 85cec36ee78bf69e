public import Capabilities
import StorageKit

/// A client of the gateway with its own token.
public struct GatewayClient: Sendable, Hashable {
    /// The name, unique among the clients. The audit log and the usage have it too.
    public let name: String
    /// What its requests may do.
    public let scopes: Set<ClientScope>
    /// When its token was created.
    public let created: Timestamp
    /// When the token expires; nil for never.
    public let expires: Timestamp?
    /// The time of the last use, to the minute.
    public let used: Timestamp?
    /// The maximum number of requests a minute; nil for no limit.
    public let rate: Int?
    /// The daily limit on its usage.
    public let budget: BudgetLimit

    /// A client to be stored. `used` is ignored then.
    public init(
        name: String, scopes: Set<ClientScope>, created: Timestamp, expires: Timestamp? = nil,
        used: Timestamp? = nil, rate: Int? = nil, budget: BudgetLimit = BudgetLimit()
    ) {
        self.name = name
        self.scopes = scopes
        self.created = created
        self.expires = expires
        self.used = used
        self.rate = rate
        self.budget = budget
    }
}

extension GatewayStore {
    /// How precisely the last use of a client is stored. It is coarse, so that few requests wait for the disk.
    private static let precision = Duration.seconds(60)

    /// Stores a client with the SHA-256 digest of its token; the token itself is not stored.
    public func addClient(_ client: GatewayClient, digest: [UInt8]) async throws {
        try await database.write { connection in
            func exists(_ condition: SQL, _ value: some Storable) throws -> Bool {
                try connection.first("SELECT 1 FROM clients WHERE " + condition, value) { _ in true } != nil
            }
            if try exists("name = ?", client.name) { throw GatewayStoreError.clientExists(client.name) }
            if try exists("digest = ?", digest) { throw GatewayStoreError.tokenExists }
            try connection.run(
                """
                INSERT INTO clients (name, digest, scopes, created, expires, rate, day_tokens, day_cost)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                """,
                client.name, digest, Self.words(client.scopes), client.created, client.expires, client.rate,
                client.budget.tokens, client.budget.cost?.nanodollars)
        }
    }

    /// All clients, sorted by name.
    public func clients() async throws -> [GatewayClient] {
        try await database.read { connection in
            try connection.all(Self.clientColumns + " ORDER BY name") { row in try Self.client(row) }
        }
    }

    /// The client whose token has this digest, with the stored digest.
    public func client(digest: [UInt8]) async throws -> (client: GatewayClient, digest: [UInt8])? {
        try await database.read { connection in
            try connection.first(Self.clientColumns + " WHERE digest = ?", digest) { row in
                (try Self.client(row), try row[8])
            }
        }
    }

    /// The digests of the tokens that are valid at a time, by client name.
    public func validDigests(at time: Timestamp) async throws -> [String: [UInt8]] {
        try await database.read { connection in
            let rows = try connection.all(
                "SELECT name, digest FROM clients WHERE expires IS NULL OR expires > ?", time
            ) { row in (try row[0] as String, try row[1] as [UInt8]) }
            return Dictionary(rows) { $1 }
        }
    }

    /// Removes a client, so that its token becomes invalid.
    public func removeClient(named name: String) async throws {
        try await database.write { connection in
            let known = try connection.all("SELECT name FROM clients") { row in try row[0] as String }
            guard known.contains(name) else { throw GatewayStoreError.noClient(name, known: known) }
            try connection.run("DELETE FROM clients WHERE name = ?", name)
        }
    }

    /// Stores that a client was just used.
    public func clientWasSeen(_ client: GatewayClient) async throws {
        let time = now()
        // Only compare and never subtract stored times: a database may hold any number, and the difference could
        // overflow.
        if let used = client.used, used <= time, used > time + (.zero - Self.precision) { return }
        _ = try await finish { connection in
            try connection.run("UPDATE clients SET used = ? WHERE name = ?", time, client.name)
        }
    }

    private static let clientColumns: SQL =
        "SELECT name, scopes, created, expires, used, rate, day_tokens, day_cost, digest FROM clients"

    private static func client(_ row: borrowing Row) throws -> GatewayClient {
        let words: String = try row[1]
        return GatewayClient(
            name: try row[0], scopes: Set(words.split(separator: " ").compactMap { ClientScope(rawValue: String($0)) }),
            created: try row[2], expires: try row[3], used: try row[4], rate: try row[5],
            budget: try Connection.limit(row, from: 6))
    }

    private static func words(_ scopes: Set<ClientScope>) -> String {
        ClientScope.allCases.filter(scopes.contains).map(\.rawValue).joined(separator: " ")
    }
}

extension Connection {
    /// The daily limit of a client; nil if no client has this name.
    func budget(ofClient name: String) throws -> BudgetLimit? {
        try first("SELECT day_tokens, day_cost FROM clients WHERE name = ?", name) { row in try Self.limit(row, from: 0)
        }
    }

    /// Reads a limit of tokens and one of cost, starting at a column.
    static func limit(_ row: borrowing Row, from column: Int) throws -> BudgetLimit {
        let cost: Int? = try row[column + 1]
        return BudgetLimit(tokens: try row[column], cost: cost.map(Cost.init(nanodollars:)))
    }
}
