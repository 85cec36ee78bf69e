import Capabilities
public import JSON

/// What a platform of the person has told of its tools, each of which is an MCP server.
public struct PlatformListing: Sendable, Hashable {
    /// The profile that names the platform.
    public let profile: String
    /// The tools that could be used when it was asked.
    public let tools: [PlatformTool]

    /// What a platform has told.
    public init(profile: String, tools: [PlatformTool]) {
        self.profile = profile
        self.tools = tools
    }
}

/// A tool as a platform told of it.
public struct PlatformTool: Sendable, Hashable {
    /// The platform's id for it.
    public let id: String
    /// The name that people gave it.
    public let name: String
    /// The address that the platform gives. The server answers there, or below it.
    public let url: String

    /// A tool at an address.
    public init(id: String, name: String, url: String) {
        self.id = id
        self.name = name
        self.url = url
    }

    init?(stored json: JSON) {
        guard let id = json["id"]?.string, let name = json["name"]?.string, let url = json["url"]?.string else {
            return nil
        }
        self.init(id: id, name: name, url: url)
    }

    /// As it is stored.
    public var json: JSON { ["id": .string(id), "name": .string(name), "url": .string(url)] }
}

extension PlatformListing {
    /// The tools as servers, and sentences about those that got no name.
    ///
    /// A name that one of the person's own servers or another platform has is preceded by the profile, for all platforms
    /// that have it, so that no name depends on an order.
    ///
    /// - Parameter own: the names of the person's own servers.
    static func servers(
        of listings: [PlatformListing], beside own: Set<String>, folder: String
    ) -> (servers: [ConfiguredServer], problems: [String]) {
        var holders: [String: Set<String>] = [:]
        for listing in listings {
            for tool in listing.tools { holders[ServerName.plain(tool.name), default: []].insert(listing.profile) }
        }
        var servers: [ConfiguredServer] = []
        var problems: [String] = []
        var taken = own
        for listing in listings.sorted(by: { $0.profile < $1.profile }) {
            let named = listing.tools.map { tool -> (tool: PlatformTool, name: String) in
                let name = ServerName.plain(tool.name)
                let isAlone = !own.contains(name) && holders[name]?.count == 1
                return (tool, isAlone ? name : ServerName.plain("\(listing.profile)-\(name)"))
            }
            let counts = Dictionary(grouping: named, by: \.name)
            for (tool, name) in named {
                // Nothing else keeps two deployments of one name apart.
                let isOnly = counts[name]?.count == 1
                let name = isOnly ? name : ServerName.plain("\(name.prefix(31))-\(tool.id.prefix(8))")
                guard taken.insert(name).inserted, ServerName.problem(name) == nil else {
                    problems.append(
                        "the tool \(PlainText.escape(tool.name).quotedForMessage) of the platform of the profile \(PlainText.escape(listing.profile)) is left out, since there is another \(name)"
                    )
                    continue
                }
                servers.append(
                    ConfiguredServer(
                        name: name, entry: ServerEntry(.address(tool.url)),
                        origin: .platform(profile: listing.profile), folder: folder))
            }
        }
        return (servers, problems)
    }
}
