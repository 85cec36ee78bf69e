public import Capabilities
public import TurnLoop

/// A folder in which sessions work, with what is allowed there.
public struct Project: Sendable, Hashable {
    public let id: String
    public let name: String
    public let description: String?
    /// The folder, absolute.
    public let path: String
    /// What was declared for the project: who has to agree to which calls. What a person answered is in the folder's record.
    public let rules: [ApprovalRule]
    public let budget: ProjectBudget
    public let created: Timestamp
    /// When it was changed, or a turn began in it.
    public let updated: Timestamp
}

/// What a project begins with.
public struct NewProject: Sendable, Hashable {
    public var name: String
    public var description: String?
    public var path: String
    public var rules: [ApprovalRule]
    public var budget: ProjectBudget

    public init(
        name: String, description: String? = nil, path: String, rules: [ApprovalRule] = [],
        budget: ProjectBudget = ProjectBudget()
    ) {
        self.name = name
        self.description = description
        self.path = path
        self.rules = rules
        self.budget = budget
    }
}

/// What is to be different about a project; what is nil stays as it is.
public struct ProjectChange: Sendable, Hashable {
    public var name: String?
    public var description: String?
    public var rules: [ApprovalRule]?
    public var budget: ProjectBudget?

    public init(
        name: String? = nil, description: String? = nil, rules: [ApprovalRule]? = nil, budget: ProjectBudget? = nil
    ) {
        self.name = name
        self.description = description
        self.rules = rules
        self.budget = budget
    }
}

/// A project as lists show it.
public struct ProjectRow: Sendable, Hashable {
    public let project: Project
    /// How many sessions it has.
    public let sessions: Int
    /// What it has taken so far, with sessions that are deleted.
    public let usage: UsageSum
}
