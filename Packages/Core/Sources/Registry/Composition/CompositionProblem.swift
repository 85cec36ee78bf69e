public import Capabilities

/// Something that keeps features from being composed, with the feature it concerns.
public struct CompositionProblem: Sendable, Hashable, CustomStringConvertible {
    public enum Code: String, Sendable, Hashable {
        case missing, ambiguous, cycle, duplicateFeature, duplicateAction, malformed, contradiction, undeclared, failed
        case unknownFeature
    }

    public let code: Code
    public let feature: String
    /// What is wrong and how to mend it, as the rest of a sentence that begins with the feature.
    public let message: String

    init(_ code: Code, _ feature: String, _ message: String) {
        self.code = code
        self.feature = feature
        self.message = message
    }

    public var description: String { "\(feature) \(message)" }
}

/// All that is wrong in a composition, said at once.
public struct CompositionFailure: Failure {
    public let problems: [CompositionProblem]

    public init(_ problems: [CompositionProblem]) {
        self.problems = problems
    }

    public var code: String { "composition.invalid" }
    public var exit: ExitCode { .usage }
    public var message: String {
        (["these features cannot be put together:"] + problems.map { "  \($0)" }).joined(separator: "\n")
    }
}
