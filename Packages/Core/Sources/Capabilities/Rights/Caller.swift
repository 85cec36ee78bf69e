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
