import Capabilities
import CoreTesting
import HTTPClient
import HTTPCore
import KamiwazaKit
import KamiwazaTesting
import Testing

@Suite("Damaged responses", .timeLimit(.minutes(5)))
struct DamagedAnswerTests {
    private static let tokens =
        #"{"access_token":"abc.def","token_type":"bearer","expires_in":300,"refresh_token":"r"}"#
    private static let user = #"{"username":"ada","sub":"7","email":null,"groups":["a"],"roles":["user",1]}"#
    private static let personal = """
        {"pats":[{"id":"1","jti":"j","exp":1800000000,"created_at":"2027-01-15T08:00:00.5","ttl_seconds":60}]}
        """
    private static let providers = #"{"providers":[{"alias":"a","providerId":"b","displayName":"c","enabled":true}]}"#

    @Test("A response with any damaged bytes gives a value or a clear error", arguments: [UInt64](1...4))
    func mutated(_ seed: UInt64) async throws {
        var generator = SeededGenerator(seed: seed)
        try await Lab.session { server, api, _ in
            let calls: [(String, String, () async throws -> Void)] = [
                ("token", Self.tokens, { _ = try await api.signIn(user: "ada", password: Lab.password) }),
                ("users/me", Self.user, { _ = try await api.whoAmI() }),
                ("pats", Self.personal, { _ = try await api.personalTokens() }),
                ("idp/public/providers", Self.providers, { _ = try await api.providers() }),
            ]
            var (values, errors) = (0, 0)
            for round in 0..<60 {
                for (path, text, call) in calls {
                    let body = Self.damage(Array(text.utf8), using: &generator)
                    server.fail("/api/auth/\(path)", with: .json(bytes: body))
                    do {
                        try await call()
                        values += 1
                    } catch let error as KamiwazaError {
                        #expect(error.kind == .badAnswer && !error.message.isEmpty, "seed \(seed), round \(round)")
                        errors += 1
                    }
                }
            }
            // Without both outcomes this test would show nothing.
            #expect(values > 10 && errors > 10, "seed \(seed)")
        }
    }

    private static func damage(_ bytes: [UInt8], using generator: inout SeededGenerator) -> [UInt8] {
        var bytes = bytes
        let pieces = [
            "null", "[]", "{}", "-1", "1e308", "1e-400", "99999999999999999999", "\"\"", "true", "\\u0000", "\"",
        ]
        for _ in 0..<Int.random(in: 1...3, using: &generator) where !bytes.isEmpty {
            let place = Int.random(in: 0..<bytes.count, using: &generator)
            switch Int.random(in: 0..<4, using: &generator) {
            case 0: bytes[place] = UInt8.random(in: 0...255, using: &generator)
            case 1: bytes.remove(at: place)
            case 2: bytes.removeSubrange(place...)
            default: bytes.insert(contentsOf: Array((pieces.randomElement(using: &generator) ?? "").utf8), at: place)
            }
        }
        return bytes
    }
}
