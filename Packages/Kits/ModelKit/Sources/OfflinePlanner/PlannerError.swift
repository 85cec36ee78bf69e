public import Capabilities

/// Why the planner did not answer.
public struct PlannerError: Failure {
    /// The stable reason; compare it with `==`.
    public let kind: Kind
    /// A message for the user: what happened and what to do next.
    public let message: String

    public var code: String { kind.description }
    public var exit: ExitCode { .usage }

    init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    /// A stable reason for a failure; new ones may be added.
    public typealias Kind = FailureKind<PlannerError>
}

/// The reasons of a `PlannerError`.
extension FailureKind<PlannerError> {
    /// The planner has no model of that name.
    public static var unknownModel: Self { "gateway.unknown-model" }
}
