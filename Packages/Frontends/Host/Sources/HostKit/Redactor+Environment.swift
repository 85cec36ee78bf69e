import Capabilities
import FileKit
import ProcessKit

extension Redactor {
    /// Shorter values are switches and words more often than secrets, and would be masked wherever they stand.
    private static let leastLength = 8

    /// From now on the values of all variables are taken out that are called like secrets, whoever uses them.
    func learn(secretsIn environment: [String: String]) {
        for (name, value) in environment where CommandEnvironment.isSecret(name) {
            guard value.utf8.count >= Self.leastLength, !Self.isFile(value) else { continue }
            learn(Secret(value), named: name)
        }
    }

    /// `GOOGLE_APPLICATION_CREDENTIALS` and its like say where a secret is, which people want to read in messages.
    private static func isFile(_ value: String) -> Bool { value.hasPrefix("/") && Files.exists(value) }
}
