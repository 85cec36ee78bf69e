import Capabilities
import OpenAIDialect

/// What is known of a provider before anything of it is made.
public struct ProviderOffer: Sendable, Hashable {
    public let id: String
    public let name: String
    /// Whether it runs tools of its own.
    public let runsTools: Bool
}

extension ProviderDirectory {
    /// What a directory of these servers has beside what is found on this machine, in its order.
    public static func offers(_ servers: [ChatServer], environment: [String: String]) -> [ProviderOffer] {
        let vendors = Vendor.all(sendsAttribution: false, usesResponses: false)
        return vendors.map { ProviderOffer(id: $0.id, name: $0.name, runsTools: false) }
            + ProviderSetup.all(servers, environment).map {
                ProviderOffer(id: $0.name, name: $0.name, runsTools: $0.kind == .gateway)
            }
    }
}
