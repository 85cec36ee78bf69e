import Cryptography
import HTTPCore
import HTTPTesting

/// Servers that greet every accepted client.
enum Servers {
    static let greeting: ScriptedServer.Script = { connection in
        while true {
            try connection.receiveRequest()
            try connection.answer(200, [:], "hi")
        }
    }

    static func run<Result>(
        _ identity: Identity, at address: ScriptedServer.Address = .loopback,
        isolation: isolated (any Actor)? = #isolation, during body: (ScriptedServer) async throws -> Result
    ) async throws -> Result {
        try await ScriptedServer.run(at: address, tls: ScriptedTLS(identity), greeting, during: body)
    }
}

extension ScriptedServer {
    /// Waits until `count` connections have come and gone; returns whether none of them brought a byte of a request.
    func sawNothing(in connections: Int = 1) async throws -> Bool {
        let record = try await until { $0.connections.count == connections && $0.openNow == 0 }
        return record.requests.isEmpty && record.bytesReceived == 0
    }
}
