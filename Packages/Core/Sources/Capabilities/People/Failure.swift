public import JSON

/// An error that a person can act on and that a program can identify.
///
/// Each package has one conforming type; every frontend prints it in the same way.
public protocol Failure: Error, Sendable, CustomStringConvertible {
    /// A stable dotted code, such as `auth.certificate-changed`.
    var code: String { get }
    /// What happened and what to do next, in one sentence without a final stop.
    var message: String { get }
    /// The exit code of a command that ends with this error.
    var exit: ExitCode { get }
    /// The underlying error, if that helps.
    var cause: (any Error)? { get }
    /// Facts for programs, such as `status` and `url`.
    var details: JSONObject { get }
}

extension Failure {
    public var exit: ExitCode { .failed }
    public var cause: (any Error)? { nil }
    public var details: JSONObject { [:] }
    public var description: String { message }

    /// The one line that machine formats print: `{"error":{"code","message","cause",…}}`.
    public var report: JSON {
        var error: JSONObject = ["code": .string(code), "message": .string(message)]
        if let cause { error["cause"] = .string((cause as? any Failure)?.message ?? String(describing: cause)) }
        for (name, value) in details where error[name] == nil { error[name] = value }
        return ["error": .object(error)]
    }
}

/// A stable reason for the failures of one type, compared with `==`. Each reason is declared once, with its code:
///
/// ```swift
/// extension FailureKind<StoreError> {
///     /// Another program holds the lock.
///     public static var busy: Self { "store.busy" }
/// }
/// ```
public struct FailureKind<Owner>: Hashable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral {
    /// The dotted code for programs.
    public let description: String

    public init(stringLiteral code: String) {
        description = code
    }
}

/// Any error as a failure. Cancellation and foreign errors get their own code and exit code.
public struct AnyFailure: Failure {
    public let code: String
    public let message: String
    public let exit: ExitCode
    public let cause: (any Error)?
    public let details: JSONObject

    /// Copies a failure. The message of any other error contains its description.
    public init(_ error: any Error) {
        switch error {
        case let failure as any Failure:
            (code, message, exit) = (failure.code, failure.message, failure.exit)
            (cause, details) = (failure.cause, failure.details)
        case is CancellationError:
            (code, message, exit) = ("cancelled", "the command was cancelled before it finished", .interrupted)
            (cause, details) = (nil, [:])
        default:
            (code, message, exit) = ("unexpected", "unexpected error: \(error)", .failed)
            (cause, details) = (nil, [:])
        }
    }
}

/// How a command ended, the same for every action and every frontend.
public struct ExitCode: RawRepresentable, Sendable, Hashable {
    public let rawValue: Int32

    public init(rawValue: Int32) {
        self.rawValue = rawValue
    }

    /// Success.
    public static let done = ExitCode(rawValue: 0)
    /// Failed for a reason that no other code covers.
    public static let failed = ExitCode(rawValue: 1)
    /// The arguments, the settings or the bundle are not valid.
    public static let usage = ExitCode(rawValue: 2)
    /// A credential or trust is missing or was refused.
    public static let denied = ExitCode(rawValue: 3)
    /// Something could not be reached: name lookup, connection, transport or timeout.
    public static let unreachable = ExitCode(rawValue: 4)
    /// The tool or remote command that the action ran failed.
    public static let toolFailed = ExitCode(rawValue: 5)
    /// A value, passphrase or approval was needed, but nobody was there to give it.
    public static let unanswered = ExitCode(rawValue: 6)
    /// Interrupted from the keyboard.
    public static let interrupted = ExitCode(rawValue: 130)
    /// Asked to end by a signal.
    public static let terminated = ExitCode(rawValue: 143)
}
