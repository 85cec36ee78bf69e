import JSON

/// What a program says it is. Nothing of it is checked, and names are not unique.
public struct MCPIdentity: Sendable, Hashable {
    /// Its name for programs.
    public var name: String
    /// Its name for people.
    public var title: String?
    /// Its version.
    public var version: String

    /// What it says.
    public init(name: String, title: String? = nil, version: String) {
        self.name = name
        self.title = title
        self.version = version
    }

    init(_ json: JSON?) {
        name = json?["name"]?.string ?? ""
        title = json?["title"]?.string
        version = json?["version"]?.string ?? ""
    }

    var json: JSON {
        var members: JSONObject = ["name": .string(name), "version": .string(version)]
        members["title"] = title.map { .string($0) }
        return .object(members)
    }
}

/// What a server offers.
public struct MCPServerCapabilities: Sendable, Hashable {
    /// Tools, and whether it tells when they change.
    public var tools: Listing?
    /// Prompts, and whether it tells when they change.
    public var prompts: Listing?
    /// Resources, and whether it tells when they change.
    public var resources: Listing?
    /// Whether it tells when one resource changes.
    public var subscribesResources = false
    /// Whether it sends log messages.
    public var logging = false
    /// Whether it completes arguments.
    public var completions = false
    /// Whether it runs calls as tasks, of the tools that allow it.
    public var tasks = false

    /// A list that a server offers.
    public struct Listing: Sendable, Hashable {
        /// Whether it tells when the list changes.
        public var tellsChanges: Bool

        /// A list that never changes unless told otherwise.
        public init(tellsChanges: Bool = false) {
            self.tellsChanges = tellsChanges
        }
    }

    /// Nothing.
    public init() {}

    init(_ json: JSON?) {
        func listing(_ name: String) -> Listing? {
            guard let members = json?[name]?.unlessNull else { return nil }
            return Listing(tellsChanges: members["listChanged"]?.bool ?? false)
        }
        tools = listing("tools")
        prompts = listing("prompts")
        resources = listing("resources")
        subscribesResources = json?["resources"]?["subscribe"]?.bool ?? false
        logging = json?["logging"]?.unlessNull != nil
        completions = json?["completions"]?.unlessNull != nil
        tasks = json?["tasks"]?.unlessNull != nil || json?["extensions"]?[Self.tasksExtension]?.unlessNull != nil
    }

    /// The name by which the modern era knows tasks.
    static let tasksExtension = "io.modelcontextprotocol/tasks"

    func json(_ version: MCPVersion) -> JSON {
        func listing(_ listing: Listing) -> JSONObject { listing.tellsChanges ? ["listChanged": true] : [:] }
        var members: JSONObject = [:]
        if let tools { members["tools"] = .object(listing(tools)) }
        if let prompts { members["prompts"] = .object(listing(prompts)) }
        if let resources {
            var given = listing(resources)
            if subscribesResources { given["subscribe"] = true }
            members["resources"] = .object(given)
        }
        if logging { members["logging"] = [:] }
        if completions { members["completions"] = [:] }
        if tasks, tools != nil {
            if version == .november2025 {
                members["tasks"] = ["list": [:], "cancel": [:], "requests": ["tools": ["call": [:]]]]
            } else if version.isModern {
                members["extensions"] = .object([Self.tasksExtension: [:]])
            }
        }
        return .object(members)
    }
}

/// A server as it presents itself.
public struct MCPServerInfo: Sendable, Hashable {
    /// What it says it is.
    public let identity: MCPIdentity
    /// The revision that both sides speak.
    public let version: MCPVersion
    /// What it offers.
    public let capabilities: MCPServerCapabilities
    /// How it wants to be used, written for models by an untrusted party.
    public let instructions: String?

    init(_ version: MCPVersion, _ identity: MCPIdentity, _ result: JSON) {
        self.version = version
        self.identity = identity
        capabilities = MCPServerCapabilities(result["capabilities"])
        instructions = result["instructions"]?.string
    }
}

/// What a client lets servers ask for.
public struct MCPClientCapabilities: Sendable, Hashable {
    /// The folders that it works in.
    public var roots = false
    /// Answers of its models.
    public var sampling = false
    /// Whether servers may give the models tools.
    public var samplingTools = false
    /// Values from a person, by a form.
    public var forms = false
    /// A visit of the person to an address.
    public var addresses = false
    /// Whether it takes a task for the result of a call in the modern era. Our clients always do, and say so by themselves.
    public internal(set) var tasks = false

    /// Nothing.
    public init() {}

    func json(_ version: MCPVersion) -> JSON {
        var members: JSONObject = [:]
        if roots { members["roots"] = version.isModern ? [:] : ["listChanged": true] }
        if sampling { members["sampling"] = samplingTools && version >= .november2025 ? ["tools": [:]] : [:] }
        if forms || addresses {
            var elicitation: JSONObject = [:]
            // Before there were addresses, the empty object meant forms.
            if version >= .november2025 {
                if forms { elicitation["form"] = [:] }
                if addresses { elicitation["url"] = [:] }
            }
            if forms || version >= .november2025 { members["elicitation"] = .object(elicitation) }
        }
        // A task is waited for by the client itself.
        if version.isModern { members["extensions"] = [MCPServerCapabilities.tasksExtension: [:]] }
        return .object(members)
    }
}
