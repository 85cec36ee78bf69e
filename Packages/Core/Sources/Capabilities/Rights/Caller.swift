/// Who asks for something: what they may do, and who answers questions on their behalf.
public struct Caller: Sendable {
    /// That of the action which is being done now, for what lies deep below it, such as a request to a server. Nil
    /// outside of actions.
    @TaskLocal public static var current: Caller?

    public let grant: Grant
    public let interaction: any Interaction

    private init(_ grant: Grant, _ interaction: any Interaction) {
        self.grant = grant
        self.interaction = interaction
    }

    /// The person at a surface.
    public static func person(_ interaction: any Interaction) -> Caller { Caller(.person, interaction) }

    /// Somebody who acts for this caller, and may do no more.
    public func narrowed(by grant: Grant, asking interaction: any Interaction) -> Caller {
        Caller(self.grant.narrowed(by: grant), interaction)
    }

    /// A model that acts for this caller. Nobody is asked on its behalf here: what it may not do is refused.
    public var model: Caller { narrowed(by: Grant(Grant.Layer(.model)), asking: HeadlessInteraction()) }
}
