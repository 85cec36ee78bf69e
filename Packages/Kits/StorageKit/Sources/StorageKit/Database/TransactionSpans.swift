import Capabilities

/// Records the transactions of a database within the span of the running work: each one that writes, and one that reads if
/// it fails or takes long, because programs read all the time.
struct TransactionSpans: Sendable {
    enum Kind {
        case read, write
    }

    /// A read that takes longer is recorded.
    static let slow = Duration.milliseconds(10)

    private let file: String
    /// The names of the spans, which are not put together for each of them.
    private let names: (read: String, write: String)
    private let isOn: Bool

    init(ofDatabase path: String, isOn: Bool) {
        file = String(path.split(separator: "/").last ?? "")
        names = ("read \(file)", "write \(file)")
        self.isOn = isOn
    }

    nonisolated(nonsending) func recording<Result>(
        _ kind: Kind, _ work: nonisolated(nonsending) () async throws -> Result
    ) async throws -> Result {
        let span = begin(kind)
        do {
            let result = try await work()
            span?.end(nil)
            return result
        } catch {
            span?.end(error)
            throw error
        }
    }

    func recordingNow<Result>(_ kind: Kind, _ work: () throws -> Result) throws -> Result {
        let span = begin(kind)
        do {
            let result = try work()
            span?.end(nil)
            return result
        } catch {
            span?.end(error)
            throw error
        }
    }

    private func begin(_ kind: Kind) -> Running? {
        guard isOn else { return nil }
        let tracer = Tracer.current
        let name = kind == .read ? names.read : names.write
        guard let record = tracer.begin(name, .client, of: "storage") else { return nil }
        record.set(.databaseSystem, "sqlite")
        record.set(.databaseName, .string(file))
        return Running(tracer: tracer, record: record, kind: kind)
    }

    private struct Running {
        let tracer: Tracer
        let record: SpanRecord
        let kind: Kind

        func end(_ error: (any Error)?) {
            // What the caller throws, or a cancellation, is not a failure of the database.
            let code = (error as? StorageError)?.code
            switch kind {
            case .write: tracer.end(record, failure: code)
            case .read: tracer.end(record, failure: code, ifLongerThan: TransactionSpans.slow)
            }
        }
    }
}
