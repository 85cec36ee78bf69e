/// A result that is worth printing and still means that something is wrong, such as a doctor's findings.
public protocol ExitingValue: OutputValue {
    /// The exit code of a command that ends with this result.
    var exit: ExitCode { get }
}
