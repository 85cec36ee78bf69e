import Capabilities
import HTTPClient
import HTTPCore

/// What the environment says about a provider: `LAB_API_KEY` and `LAB_BASE_URL`.
struct EnvironmentKey: Sendable {
    let key: Secret?
    let address: HTTPURL?

    /// Throws when the address is none.
    init(for id: String, in environment: [String: String], redactor: Redactor) throws(ChatError) {
        let variable = SecretName(id).environmentVariable
        let key = environment[variable].flatMap { $0.isEmpty ? nil : Secret($0) }
        if let key {
            redactor.learn(key, named: variable)
            // A line end in a header would begin another one; usually it came along when the key was copied.
            guard key.withText({ $0.utf8.allSatisfy { (33...126).contains($0) } }) else {
                throw ChatError(
                    .noKey, "\(variable) has characters in it that no key has", remedy: "set it once more without them",
                    provider: id)
            }
        }
        self.key = key
        let place = Self.addressVariable(for: id)
        guard let text = environment[place], !text.isEmpty else {
            address = nil
            return
        }
        do throws(HTTPError) {
            address = try HTTPURL(text, assuming: .https)
        } catch {
            throw ChatError(.badAddress, "\(place): \(error.message)", provider: id, cause: error)
        }
    }

    /// The credential for a server that has no host known beforehand: the key is for the address beside it only.
    func credential(for url: HTTPURL) -> Credential? {
        guard let key, let address, address.isSameOrigin(as: url) else { return nil }
        return .key(key, .bearer, for: address)
    }

    static func addressVariable(for id: String) -> String {
        let variable = SecretName(id).environmentVariable
        // A name such as `ci-token` is a variable as it is.
        return (variable.hasSuffix("_API_KEY") ? String(variable.dropLast("_API_KEY".count)) : variable) + "_BASE_URL"
    }
}
