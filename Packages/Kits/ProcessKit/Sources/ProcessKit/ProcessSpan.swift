import Capabilities

/// The span of a child process within the span of the running work. It is begun before the child starts, so that the
/// child can be told of it.
///
/// It has the name of the program, without its folder and arguments, and how the program ended.
public struct ProcessSpan: Sendable {
    /// The end of a program's messages that a span has, in bytes.
    private static let keptMessages = 4_000

    private let tracer = Tracer.current
    private let name: String
    private let record: SpanRecord?

    /// Begins the span. A span that is not ended is not recorded.
    ///
    /// - Parameter program: the program as the person knows it.
    public init(of program: String) {
        name = String(program.split(separator: "/").last ?? "program")
        record = tracer.begin(name, .client, of: "process")
        record?.set(.processName, .string(name))
    }

    /// Where the child is in its trace: in its span, or in that of the running work if nothing is recorded here. Nil
    /// outside of a trace.
    private var context: TraceContext? { record?.context ?? TraceContext.current }

    /// The variables that tell the child of its place in the trace: two ids, and for a child with the rights of the user also
    /// what other programs have added to the trace.
    public func variables(withState: Bool) -> [String: String] { context?.variables(withState: withState) ?? [:] }

    func started(_ process: Int32) { record?.set(.processID, .int(Int(process))) }

    /// - Parameters:
    ///   - status: nil if it is unknown.
    ///   - wasStopped: whether it was ended from here, which is not its failure.
    ///   - messages: the end of what it has written to its standard error.
    func end(_ status: ChildStatus?, wasStopped: Bool = false, messages: [UInt8] = []) {
        guard let record else { return }
        if let status { record.set(.processExitCode, .int(Int(status.code))) }
        let text = Self.text(of: messages)
        if let text { record.set(.processMessages, .string(text)) }
        let hasFailed = status?.isSuccess == false && !wasStopped
        if hasFailed, let status, let last = text?.split(whereSeparator: \.isNewline).last {
            TraceContext.$current.withValue(record.context) {
                tracer.log(.warning, of: "process", "\(name) ended with exit code \(status.code): \(last)")
            }
        }
        tracer.end(record, failure: hasFailed ? "process.failed" : nil)
    }

    /// The messages of a program as a span shows them: whole lines, so that no secret is cut and then not known as one. Nil
    /// if there are none.
    ///
    /// - Parameter messages: the end of what it has written to its standard error.
    public static func text(of messages: [UInt8]) -> String? {
        var kept = messages[...]
        if kept.count > keptMessages {
            kept = kept.suffix(keptMessages).drop { $0 != UInt8(ascii: "\n") }.dropFirst()
        }
        let end = kept.lastIndex { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") && $0 != UInt8(ascii: " ") }
        return end.map { String(decoding: kept[...$0], as: UTF8.self) }
    }

    /// The child could not be started.
    func fail(_ error: any Error) {
        if let record { tracer.end(record, failure: AnyFailure(error).code) }
    }
}
