import Capabilities
public import HTTPClient
import HTTPCore
import JSON

/// A tool that a platform runs, which is an MCP server.
public struct KamiwazaTool: Sendable, Hashable {
    /// The id of its deployment, or the name of its extension.
    public let id: String
    /// The name that people gave it.
    public let name: String
    /// The address that the platform gives for it. The server answers there, or below it.
    public let url: HTTPURL

    /// A tool at an address.
    public init(id: String, name: String, url: HTTPURL) {
        self.id = id
        self.name = name
        self.url = url
    }
}

extension KamiwazaAPI {
    /// The tools that can be used now, in the platform's order. A platform that does not know tools has none.
    ///
    /// Older platforms list their tools, and newer ones only their extensions, some of which are tools.
    public nonisolated(nonsending) func tools() async throws -> [KamiwazaTool] {
        if let servers = try await list("/tool/discover", "servers") {
            return servers.compactMap { tool(deployed: $0) }
        }
        return try await list("/extensions", "extensions")?.compactMap { tool(extension: $0) } ?? []
    }

    /// The entries of a list; nil if the platform does not have it.
    private nonisolated(nonsending) func list(_ path: String, _ member: String) async throws -> [Members]? {
        do {
            return try await answer(to: KamiwazaCall(.get, path)).list(member)
        } catch let error as KamiwazaError where error.kind == .notFound {
            return nil
        }
    }

    private func tool(deployed server: Members) -> KamiwazaTool? {
        guard server.text("status") == "DEPLOYED", let id = server.text("deployment_id", "id") else { return nil }
        return tool(id, server.text("name"), at: server.text("url"))
    }

    private func tool(extension found: Members) -> KamiwazaTool? {
        // Only the answer to a create request has `ready`; in lists the phase tells.
        let isReady = found.flag("ready") ?? (found.text("phase") == "Running")
        guard found.text("type") == "tool", isReady, let name = found.text("name") else { return nil }
        return tool(name, name, at: found.object("endpoints")?.text("external"))
    }

    /// Nil for an address that cannot be one of a server, since the other tools are still useful.
    private func tool(_ id: String, _ name: String?, at address: String?) -> KamiwazaTool? {
        do throws(HTTPError) {
            let url = try base.resolving(address ?? "/runtime/tools/\(PercentEncoding.encode(id))")
            return KamiwazaTool(id: id, name: name ?? id, url: url)
        } catch {
            return nil
        }
    }
}
