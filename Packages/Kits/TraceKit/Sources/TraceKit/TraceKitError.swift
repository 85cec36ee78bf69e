public import Capabilities

/// Why something about traces cannot be read or written.
public struct TraceKitError: Failure, Hashable {
    /// The stable reason; compare it with `==`.
    public let kind: Kind
    /// What happened and what to do next, without a final stop.
    public let message: String

    public var code: String { kind.description }

    init(_ kind: Kind, _ message: String) { (self.kind, self.message) = (kind, message) }

    /// A stable reason for a failure; new ones may be added.
    public typealias Kind = FailureKind<TraceKitError>
}

/// The reasons of a `TraceKitError`.
extension FailureKind<TraceKitError> {
    /// The bytes are not what they should be.
    public static var malformed: Self { "trace.malformed" }
    /// A limit would be passed.
    public static var tooLarge: Self { "trace.too-large" }
}
