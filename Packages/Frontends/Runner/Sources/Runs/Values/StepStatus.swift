public import Capabilities

/// How far a step has come.
public enum StepStatus: String, Choice, Hashable {
    /// It has begun.
    case running
    /// It ended well.
    case ok
    case failed
    /// Its own condition said no.
    case skipped
    /// Something that it needs did not end well.
    case blocked
    /// The run was stopped before it was over.
    case cancelled
}
