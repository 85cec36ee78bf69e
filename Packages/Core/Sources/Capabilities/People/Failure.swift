public import JSON

/// An error that a person can act on and a program can tell apart.
///
/// Each package has one type that conforms; every frontend prints it the same way.
public protocol Failure: Error, Sendable, CustomStringConvertible {
    /// A stable dotted code, such as `auth.certificate-changed`.
    var code: String { get }
    /// What happened and what to do next, in a sentence without a final stop.
    var message: String { get }
    /// The exit code of a command that ends with this error.
    var exit: ExitCode { get }
    /// What was underneath, if that helps.
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

/// Any error as a failure: cancellation and foreign errors get a code and an exit of their own.
public struct AnyFailure: Failure {
    public let code: String
    public let message: String
    public let exit: ExitCode
    public let cause: (any Error)?
    public let details: JSONObject

    public init(_ error: any Error) {
        switch error {
        case let failure as any Failure:
            (code, message, exit) = (failure.code, failure.message, failure.exit)
            (cause, details) = (failure.cause, failure.details)
        case is CancellationError:
            (code, message, exit) = ("cancelled", "the command was cancelled before it was done", .interrupted)
            (cause, details) = (nil, [:])
        default:
            (code, message, exit) = ("unexpected", "something unexpected happened: \(error)", .failed)
            (cause, details) = (nil, [:])
        }
    }
}
