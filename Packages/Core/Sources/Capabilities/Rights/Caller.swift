/// The party that requests something: its rights, and who answers questions for it.
public struct Caller: Sendable {
    /// The caller of the running action, for code deep below it, such as a request to a server. Nil outside of actions.
    @TaskLocal public static var current: Caller?

    /// The rights of the running action's caller; none outside of actions.
    public static var grantHere: Grant { current?.grant ?? .nobody }

    /// In a single object, because it is copied with each action.
    private let facts: Facts

    private final class Facts: Sendable {
        let grant: Grant
        let interaction: any Interaction

        init(_ grant: Grant, _ interaction: any Interaction) {
            (self.grant, self.interaction) = (grant, interaction)
        }
    }

    /// What it may do.
    public var grant: Grant { facts.grant }
    /// Answers the questions of what it started.
    public var interaction: any Interaction { facts.interaction }

    private init(_ grant: Grant, _ interaction: any Interaction) {
        facts = Facts(grant, interaction)
    }

    /// The person at a surface.
    public static func person(_ interaction: any Interaction) -> Caller { Caller(.person, interaction) }

    /// Whether nothing restricts the caller except the system.
    public var isPerson: Bool { grant == .person }

    /// A caller that acts for this one and has at most its rights.
    ///
    /// - Parameters:
    ///   - grant: restricts the new caller further; nil adds no restriction.
    ///   - interaction: answers its questions; nil for the interaction of this caller.
    public func narrowed(by grant: Grant?, asking interaction: (any Interaction)? = nil) -> Caller {
        Caller(grant.map(self.grant.narrowed) ?? self.grant, interaction ?? self.interaction)
    }
}

/// Holders of grants of one kind, such as the bundles of this machine. Lets others look up their rights.
public protocol GrantHolders: AnyObject, Sendable {
    /// The word for this kind, such as `bundle`.
    var kind: String { get }
    /// The rights of one of them.
    ///
    /// - Parameter name: its name among those of its kind. Throws if there is none with that name.
    func holder(named name: String) async throws -> GrantHolder
    /// The names that are known at once, with what they mean, for a person who is typing one. It creates nothing and
    /// waits for nothing.
    func knownNames() -> [(name: String, summary: String)]
}

extension GrantHolders {
    /// By default no names are known.
    public func knownNames() -> [(name: String, summary: String)] { [] }
}

/// A party with its own grant.
public struct GrantHolder: Sendable {
    /// What it may do.
    public let grant: Grant
    /// What it requests in addition to actions, or instead of them.
    public let requests: [Request]
    /// Whether it performs actions at all.
    public let doesActions: Bool

    /// A request to decide, with a name that people know.
    public struct Request: Sendable {
        /// What the person knows it by, such as `POST /v1/messages`.
        public let name: String
        /// The request that the grant decides.
        public let request: GrantRequest

        /// Pairs a request with what the person knows it by.
        public init(_ name: String, _ request: GrantRequest) {
            self.name = name
            self.request = request
        }
    }

    /// By default it performs actions and requests nothing else.
    public init(_ grant: Grant, doesActions: Bool = true, requests: [Request] = []) {
        self.grant = grant
        self.doesActions = doesActions
        self.requests = requests
    }
}
