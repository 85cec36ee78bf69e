public import Settings

/// What a feature says of itself before any of its code runs.
public struct Manifest: Sendable {
    /// Lower-case words joined by dots; action ids and settings begin with it.
    public let id: String
    /// One line, without a final stop.
    public let summary: String
    public let version: String
    public let provides: [Provision]
    public let needs: [Need]
    public let settings: [SettingDeclaration]
    /// The first words that its action ids may have; its own id unless it speaks for more.
    public let namespaces: [String]
    /// What its groups of commands are for, by their words joined by dots, where the feature's summary does not say it.
    public let groups: [String: String]

    public init(
        id: String, summary: String, version: String, provides: [Provision] = [], needs: [Need] = [],
        settings: [SettingDeclaration] = [], namespaces: [String]? = nil,
        groups: [String: String] = [:]
    ) {
        self.id = id
        self.summary = summary
        self.version = version
        self.provides = provides
        self.needs = needs
        self.settings = settings
        self.namespaces = namespaces ?? [id]
        self.groups = groups
    }
}
