import Capabilities
import FileKit

/// The credentials that systemd gives to a service as files, one for each name. Nothing is ever written there.
struct CredentialsDirectory: Sendable {
    let path: String

    /// Nil where the program was not started as such a service.
    init?(environment: [String: String]) {
        guard let path = environment["CREDENTIALS_DIRECTORY"], path.hasPrefix("/") else { return nil }
        self.path = path
    }

    func secret(named name: SecretName) throws -> Secret? {
        guard SecretRules.isName(name.text) else { return nil }
        let file = "\(path)/\(name)"
        do {
            var bytes = try Files.read(file, limit: SecretRules.largestSecret + 1)
            defer { bytes.wipe() }
            // Files made by hand end in a line break, which is no part of a key.
            let text = String(
                validating: bytes.last == UInt8(ascii: "\n") ? bytes.dropLast() : bytes[...], as: UTF8.self)
            guard let text else {
                throw VaultError(.size, "the credential \(file) is not text in UTF-8; mend the service's credentials")
            }
            return text.isEmpty ? nil : Secret(text)
        } catch let error as FileError where error.kind == .notFound {
            return nil
        }
    }

    func names() throws -> [SecretName] {
        guard Files.exists(path) else { return [] }
        return try Files.list(path).filter { $0.kind != .directory }.map(\.name).filter(SecretRules.isName).map {
            SecretName($0)
        }
    }
}
