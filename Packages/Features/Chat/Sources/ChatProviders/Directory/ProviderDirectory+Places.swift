import Capabilities
import HTTPClient
import HTTPCore

extension ProviderDirectory {
    /// Where what is said to a provider goes; nil for one that is in this process, and for one of somebody else.
    public func address(of id: String) -> String? {
        if let vendor = vendors.first(where: { $0.id == id }) {
            return Self.normal(
                setup.environment[vendor.addressVariable].flatMap { $0.isEmpty ? nil : $0 } ?? vendor.base)
        }
        if let server = ProviderSetup.all(setup.servers, setup.environment).first(where: { $0.name == id }) {
            return Self.normal(server.address)
        }
        return setup.localServers.first { $0.id == id }.map { "http://127.0.0.1:\($0.port)/" }
    }

    /// Whether a provider is another feature's.
    public func isOther(_ id: String) -> Bool { setup.others.contains { $0.id == id } }

    /// The deployment that answers to a model's name, as far as it was asked.
    public func deployment(of choice: ModelChoice) -> String? {
        (choice.provider as? KamiwazaProvider)?.deploymentID(of: choice.model)
    }

    /// Two ways of writing one address are the same.
    private static func normal(_ address: String) -> String {
        do throws(HTTPError) {
            let text = try HTTPURL(address, assuming: .https).text
            return text.hasSuffix("/") ? text : text + "/"
        } catch {
            // It leads nowhere, and who asks there is told so.
            return address
        }
    }
}
