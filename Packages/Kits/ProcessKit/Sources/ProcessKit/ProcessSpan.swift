import Capabilities

/// The span of a child process within the span of the running work. It is begun before the child starts, so that the
/// child can be told of it.
///
/// It has the name of the program, without its folder and arguments, and how the program ended.
public struct ProcessSpan: Sendable {
    private let tracer = Tracer.current
    private let record: SpanRecord?

    /// Begins the span. A span that is not ended is not recorded.
    ///
    /// - Parameter program: the program as the person knows it.
    public init(of program: String) {
        record = tracer.begin(Self.name(of: program), .client, of: "process")
        record?.set(.processName, .string(Self.name(of: program)))
    }

    /// Where the child is in its trace: in its span, or in that of the running work if nothing is recorded here. Nil
    /// outside of a trace.
    private var context: TraceContext? { record?.context ?? TraceContext.current }

    /// The variables that tell the child of its place in the trace: two ids, and for a child with the rights of the user also
    /// what other programs have added to the trace.
    public func variables(withState: Bool) -> [String: String] { context?.variables(withState: withState) ?? [:] }

    private static func name(of program: String) -> String { String(program.split(separator: "/").last ?? "program") }

    func started(_ process: Int32) { record?.set(.processID, .int(Int(process))) }

    /// - Parameters:
    ///   - status: nil if it is unknown.
    ///   - wasStopped: whether it was ended from here, which is not its failure.
    func end(_ status: ChildStatus?, wasStopped: Bool = false) {
        guard let record else { return }
        if let status { record.set(.processExitCode, .int(Int(status.code))) }
        tracer.end(record, failure: status?.isSuccess == false && !wasStopped ? "process.failed" : nil)
    }

    /// The child could not be started.
    func fail(_ error: any Error) {
        if let record { tracer.end(record, failure: AnyFailure(error).code) }
    }
}
