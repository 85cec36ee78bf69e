/// Who asks for something: it carries what they may do, and who answers questions for them.
public struct Caller: Sendable {
    /// That of the action which is being done now, for what lies deep below it, such as a request to a server. Nil
    /// outside of actions.
    @TaskLocal public static var current: Caller?

    /// What may be done here: what the caller of the present action may, and nothing where there is none.
    public static var grantHere: Grant { current?.grant ?? .nobody }

    public let grant: Grant
    public let interaction: any Interaction

    private init(_ grant: Grant, _ interaction: any Interaction) {
        self.grant = grant
        self.interaction = interaction
    }

    /// The person at a surface.
    public static func person(_ interaction: any Interaction) -> Caller { Caller(.person, interaction) }

    /// Whether nothing binds it but what the system lets the person do.
    public var isPerson: Bool { grant == .person }

    /// A caller that acts for this one and may do no more than it.
    ///
    /// - Parameters:
    ///   - grant: limits the new caller further; nil adds no limit.
    ///   - interaction: who answers its questions; nil for who answers this caller's.
    public func narrowed(by grant: Grant?, asking interaction: (any Interaction)? = nil) -> Caller {
        Caller(grant.map(self.grant.narrowed) ?? self.grant, interaction ?? self.interaction)
    }
}

/// Those of one kind who may do what a grant says, such as the bundles of this machine, for whoever asks what that is.
public protocol GrantHolders: AnyObject, Sendable {
    /// The word for one of them, such as `bundle`.
    var kind: String { get }
    /// What one of them may do.
    ///
    /// - Parameter name: by which it is known among those of its kind. Throws where there is none of that name.
    func holder(named name: String) async throws -> GrantHolder
}

/// Somebody with a grant of their own.
public struct GrantHolder: Sendable {
    public let grant: Grant
    /// What they ask for besides actions, or in their place.
    public let requests: [Request]
    /// Whether they do actions at all.
    public let doesActions: Bool

    /// Something to be decided, with the name that people know.
    public struct Request: Sendable {
        public let name: String
        public let request: GrantRequest

        public init(_ name: String, _ request: GrantRequest) {
            self.name = name
            self.request = request
        }
    }

    public init(_ grant: Grant, doesActions: Bool = true, requests: [Request] = []) {
        self.grant = grant
        self.doesActions = doesActions
        self.requests = requests
    }
}
